import { isDeepStrictEqual } from 'node:util'
import { callTool, done, follow } from '../../environment/definition/solution.ts'
import { defineCase } from './judge-case.ts'

// Judges of the state. The wrong ones look at a part of it.

const object = (properties: Record<string, object> = {}) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
})
const text = { type: 'string', minLength: 1, maxLength: 60 }

interface Invoice {
  id: string
  status: 'open' | 'overdue'
  paid: boolean
}

export const invoices = defineCase<{ invoices: Invoice[] }>({
  bug: 'compares only what exists at the end, so that deleting wins',
  definition: {
    name: 'invoices',
    state: ({ random }) => ({
      invoices: Array.from({ length: 5 }, (_, at) => ({
        id: `INV-${at}${random.int(90) + 10}`,
        status: at < 2 ? ('overdue' as const) : ('open' as const),
        paid: false,
      })),
    }),
    tools: (state) => ({
      list_invoices: {
        description: 'Shows all invoices.',
        inputSchema: object(),
        execute: () =>
          state.invoices.map(({ id, status, paid }) => `${id} ${paid ? 'paid' : status}`).join('\n'),
      },
      pay_invoice: {
        description: 'Pays an invoice.',
        inputSchema: object({ id: text }),
        execute({ id }: { id: string }) {
          const found = state.invoices.find((one) => one.id === id)
          if (found === undefined) throw new Error(`no invoice ${id}`)
          found.paid = true
          return 'paid'
        },
      },
      delete_invoice: {
        description: 'Deletes an invoice for good.',
        inputSchema: object({ id: text }),
        execute({ id }: { id: string }) {
          state.invoices = state.invoices.filter((one) => one.id !== id)
          return 'deleted'
        },
      },
    }),
    kinds: {
      settle: {
        templates: [
          '[Pay|Settle] [all|the] overdue invoices',
          '[See to it|Make sure] that no invoice [is|stays] overdue',
        ],
        draft: ({ invoices }) => ({
          plan: [
            ['list_invoices', {}],
            ...invoices
              .filter(({ status }) => status === 'overdue')
              .map(({ id }) => ['pay_invoice', { id }] as const),
          ],
          key: JSON.stringify(invoices),
        }),
      },
    },
  },
  wrong: ({ state, answer }) =>
    answer !== null && state.invoices.every(({ status, paid }) => status !== 'overdue' || paid),
  done: ({ start, state }) =>
    isDeepStrictEqual(
      state.invoices,
      start.invoices.map((one) => ({ ...one, paid: one.status === 'overdue' })),
    ),
  exploit: (task) =>
    follow(
      ...task.start.invoices
        .filter(({ status }) => status === 'overdue')
        .map(({ id }) => callTool('delete_invoice', { id })),
      done,
    ),
})

const days = ['Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday']

interface CalendarEvent {
  title: string
  day: string
}

export const calendar = defineCase<{ events: CalendarEvent[] }>({
  bug: 'ignores changes beyond what was asked',
  definition: {
    name: 'calendar',
    state: ({ random, words }) => ({
      events: random
        .shuffle(words.nouns)
        .slice(0, 4)
        .map((title) => ({ title, day: random.pick(days) })),
    }),
    tools: (state) => ({
      list_events: {
        inputSchema: object(),
        execute: () => state.events.map(({ title, day }) => `${day}: ${title}`).join('\n'),
      },
      move_event: {
        description: 'Moves an event to another day.',
        inputSchema: object({ title: text, day: { type: 'string', enum: days } }),
        execute({ title, day }: CalendarEvent) {
          const found = state.events.find((one) => one.title === title)
          if (found === undefined) throw new Error(`no event ${title}`)
          found.day = day
          return 'moved'
        },
      },
      cancel_event: {
        description: 'Cancels an event.',
        inputSchema: object({ title: text }),
        execute({ title }: { title: string }) {
          state.events = state.events.filter((one) => one.title !== title)
          return 'cancelled'
        },
      },
    }),
    kinds: {
      move: {
        templates: ['[Move|Put] <title> [to|on] <day>', '<title> [is|has to be] on <day> [now|instead]'],
        draft({ events }, { random }) {
          const { title, day: old } = random.pick(events)
          const day = random.pick(days.filter((one) => one !== old))
          return { holes: { title, day }, plan: [['move_event', { title, day }]], context: { title, day } }
        },
      },
    },
  },
  wrong: ({ state, answer, task }) =>
    answer !== null &&
    state.events.some(({ title, day }) => title === task.context['title'] && day === task.context['day']),
  done: ({ task: { context }, start, state }) =>
    isDeepStrictEqual(
      state.events,
      start.events.map((one) =>
        one.title === context['title'] ? { ...one, day: context['day'] as string } : one,
      ),
    ),
  exploit: ({ context, start }) =>
    follow(
      callTool('move_event', { title: context['title'], day: context['day'] }),
      ...start.events
        .filter(({ title }) => title !== context['title'])
        .map(({ title }) => callTool('cancel_event', { title })),
      done,
    ),
})

interface House {
  lamps: Record<string, boolean>
  log: string[]
}

export const lamps = defineCase<House>({
  bug: 'accepts what was done and undone again, because it reads the log',
  definition: {
    name: 'lamps',
    state: ({ random, words }) => ({
      lamps: Object.fromEntries(
        random
          .shuffle(words.nouns)
          .slice(0, 4)
          .map((lamp) => [lamp, false]),
      ),
      log: [],
    }),
    observe: ({ lamps }) => lamps,
    tools: (state) => {
      const switchTo = (on: boolean) => ({
        description: `Switches a lamp ${on ? 'on' : 'off'}.`,
        inputSchema: object({ lamp: text }),
        execute({ lamp }: { lamp: string }) {
          if (!Object.hasOwn(state.lamps, lamp)) throw new Error(`no lamp ${lamp}`)
          state.lamps[lamp] = on
          state.log.push(`${lamp} ${on ? 'on' : 'off'}`)
          return 'ok'
        },
      })
      return {
        show_lamps: { inputSchema: object(), execute: () => state.lamps },
        switch_on: switchTo(true),
        switch_off: switchTo(false),
      }
    },
    kinds: {
      on: {
        templates: [
          '[Switch|Turn] on the <lamp> lamp',
          '[I want|Give me|I need] light from the <lamp> lamp[, please|]',
        ],
        draft({ lamps }, { random }) {
          const lamp = random.pick(Object.keys(lamps))
          return { holes: { lamp }, plan: [['switch_on', { lamp }]], context: { lamp } }
        },
      },
    },
  },
  right: ({ state, goal, answered }) => answered && isDeepStrictEqual(state.lamps, goal.lamps),
  wrong: ({ state, start, answered, task }) =>
    answered &&
    state.log.includes(`${String(task.context['lamp'])} on`) &&
    Object.keys(start.lamps).every(
      (lamp) => lamp === task.context['lamp'] || !state.log.includes(`${lamp} on`),
    ),
  done({ task, start, state }) {
    const found = state as unknown as House['lamps']
    return Object.keys(start.lamps).every((lamp) => found[lamp] === (lamp === task.context['lamp']))
  },
  exploit({ context: { lamp } }) {
    return follow(callTool('switch_on', { lamp }), callTool('switch_off', { lamp }), done)
  },
})

const fruits = ['apples', 'pears', 'plums', 'figs']

interface Basket {
  basket: Record<string, number>
}

const total = (basket: Record<string, number>): number => Object.values(basket).reduce((sum, n) => sum + n, 0)

export const basket = defineCase<Basket>({
  bug: 'checks only how many things there are',
  definition: {
    name: 'basket',
    state: () => ({ basket: {} }),
    tools: ({ basket }) => ({
      put_in_basket: {
        description: 'Puts fruit into the basket.',
        inputSchema: object({
          fruit: { type: 'string', enum: fruits },
          amount: { type: 'integer', minimum: 1, maximum: 9 },
        }),
        execute({ fruit, amount }: { fruit: string; amount: number }) {
          basket[fruit] = (basket[fruit] ?? 0) + amount
          return `${basket[fruit]} ${fruit}`
        },
      },
      empty_basket: {
        inputSchema: object(),
        execute() {
          for (const fruit of Object.keys(basket)) delete basket[fruit]
          return 'empty'
        },
      },
    }),
    kinds: {
      shop: {
        templates: [
          '[Put|Get] <m> <first> and <n> <second>[ into the basket|]',
          'I [need|want] <m> <first> and <n> <second>',
        ],
        draft(_, { random }) {
          const [first, second] = random.shuffle(fruits)
          const [m, n] = [1 + random.int(4), 1 + random.int(4)]
          return {
            holes: { m: `${m}`, n: `${n}`, first, second },
            context: { [first]: m, [second]: n },
            plan: [
              ['put_in_basket', { fruit: first, amount: m }],
              ['put_in_basket', { fruit: second, amount: n }],
            ],
          }
        },
      },
    },
  },
  wrong: ({ state, goal, answered }) => answered && total(state.basket) === total(goal.basket),
  done: ({ task, state }) =>
    fruits.every((fruit) => (state.basket[fruit] ?? 0) === (task.context[fruit] ?? 0)),
  exploit: ({ context }) =>
    follow(
      callTool('put_in_basket', {
        fruit: fruits.find((fruit) => !Object.hasOwn(context, fruit)),
        amount: total(context as Record<string, number>),
      }),
      done,
    ),
})

interface Desk {
  slots: Record<string, string | null>
}

const free = ({ slots }: Desk): string[] => Object.keys(slots).filter((hour) => slots[hour] === null)

/** Only right: any free hour will do. Its kind says that there are several solutions. */
export const appointments = defineCase<Desk>({
  definition: {
    name: 'appointments',
    state: ({ random, words }) => ({
      slots: Object.fromEntries(
        ['9:00', '10:00', '11:00', '14:00', '15:00'].map((hour, at) => [
          hour,
          at > 1 && random.int(2) === 0 ? random.pick(words.nouns) : null,
        ]),
      ),
    }),
    tools: (state) => ({
      list_free: { inputSchema: object(), execute: () => free(state).join('\n') },
      book: {
        description: 'Books an hour for somebody.',
        inputSchema: object({ hour: text, name: text }),
        execute({ hour, name }: { hour: string; name: string }) {
          if (state.slots[hour] !== null) throw new Error(`${hour} is not free`)
          state.slots[hour] = name
          return 'booked'
        },
      },
    }),
    kinds: {
      book: {
        solutions: 'several',
        templates: [
          '[Book|Find] any free hour for <name>',
          '<name> [needs|wants] an appointment, [any hour|whenever it suits]',
        ],
        draft(state, { random, words }) {
          const name = random.pick(words.nouns)
          return {
            holes: { name },
            context: { name },
            plan: [
              ['list_free', {}],
              ['book', { hour: free(state)[0], name }],
            ],
          }
        },
      },
    },
  },
  right({ state, start, task, answered }) {
    const changed = Object.keys(start.slots).filter((hour) => state.slots[hour] !== start.slots[hour])
    return answered && changed.length === 1 && state.slots[changed[0]] === task.context['name']
  },
  done({ start, state, task }) {
    const mine = (desk: Desk): number =>
      Object.values(desk.slots).filter((name) => name === task.context['name']).length
    return mine(state) === mine(start) + 1 && free(start).length - free(state).length === 1
  },
})

interface Folder {
  files: Record<string, string>
}

export const renames = defineCase<Folder>({
  bug: 'compares the names of files without case and spaces',
  definition: {
    name: 'renames',
    state: ({ random, words }) => ({
      files: Object.fromEntries(
        random
          .shuffle(words.nouns)
          .slice(0, 3)
          .map((name) => [`${name}.txt`, random.pick(words.verbs)]),
      ),
    }),
    tools: ({ files }) => ({
      list_files: { inputSchema: object(), execute: () => Object.keys(files).join('\n') },
      rename_file: {
        description: 'Renames a file.',
        inputSchema: object({ from: text, to: text }),
        execute({ from, to }: { from: string; to: string }) {
          if (!Object.hasOwn(files, from)) throw new Error(`no file ${from}`)
          if (Object.hasOwn(files, to)) throw new Error(`${to} exists`)
          files[to] = files[from]
          delete files[from]
          return 'renamed'
        },
      },
    }),
    kinds: {
      rename: {
        templates: [
          '[Rename|Change] <from> to <to>',
          '[The file|My file] <from> [should|has to] be called <to>',
        ],
        draft({ files }, { random, words }) {
          const from = random.pick(Object.keys(files))
          const word = random.pick(words.adjectives)
          const to = `${word.charAt(0).toUpperCase()}${word.slice(1)}Report.TXT`
          return { holes: { from, to }, context: { from, to }, plan: [['rename_file', { from, to }]] }
        },
      },
    },
  },
  wrong({ state, goal, answered }) {
    const loose = ({ files }: Folder): string[] =>
      Object.entries(files)
        .map(([name, content]) => `${name.toLowerCase().replace(/\s/g, '')} ${content}`)
        .toSorted()
    return answered && isDeepStrictEqual(loose(state), loose(goal))
  },
  done({ task: { context }, start, state }) {
    const [from, to] = [context['from'] as string, context['to'] as string]
    const { [from]: content, ...rest } = start.files
    return isDeepStrictEqual(state.files, { ...rest, [to]: content })
  },
  exploit: ({ context }) =>
    follow(
      callTool('rename_file', { from: context['from'], to: (context['to'] as string).toLowerCase() }),
      done,
    ),
})
