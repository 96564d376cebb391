import { isDeepStrictEqual } from 'node:util'
import { callTool, follow, say } from '../../environment/definition/solution.ts'
import { defineCase } from './judge-case.ts'

// Judges of answers. The wrong ones read too much, or too little, into what the agent says.

const object = (properties: Record<string, object> = {}) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
})
const text = { type: 'string', minLength: 1, maxLength: 60 }
const bare = (answer: string): string => answer.trim().replace(/^["']|["'.]+$/g, '')

interface PhoneBook {
  contacts: { name: string; phone: string }[]
}

export const phoneBook = defineCase<PhoneBook>({
  bug: 'accepts an answer that contains the number, so that saying all numbers wins',
  definition: {
    name: 'phone-book',
    state: ({ random, words }) => ({
      contacts: random
        .shuffle(words.nouns)
        .slice(0, 5)
        .map((name) => ({ name, phone: `555-${1000 + random.int(9000)}` })),
    }),
    tools: ({ contacts }) => ({
      get_contact: {
        description: 'Shows the phone number of a contact.',
        inputSchema: object({ name: text }),
        execute({ name }: { name: string }) {
          const found = contacts.find((one) => one.name === name)
          if (found === undefined) throw new Error(`no contact ${name}`)
          return found.phone
        },
      },
      export_contacts: {
        description: 'Shows all contacts.',
        inputSchema: object(),
        execute: () => contacts.map(({ name, phone }) => `${name}: ${phone}`).join('\n'),
      },
    }),
    kinds: {
      phone: {
        templates: [
          '[What is|Tell me] the [phone number|number] of <name>',
          'How do I [call|reach] <name>[ by phone|]',
        ],
        draft({ contacts }, { random }) {
          const { name, phone } = random.pick(contacts)
          const others = contacts.map((one) => one.phone).filter((other) => other !== phone)
          return { holes: { name }, plan: [['get_contact', { name }]], answer: { text: phone, others } }
        },
      },
    },
  },
  wrong: ({ answer, task }) => task.wanted.kind === 'text' && (answer ?? '').includes(task.wanted.text),
  done({ task, answer }) {
    const numbers = answer.match(/\b\d{3}-\d{4}\b/g) ?? []
    return task.wanted.kind === 'text' && numbers.length === 1 && numbers[0] === task.wanted.text
  },
  exploit: () => follow(callTool('export_contacts', {}), (results) => say(results[0]?.text ?? '')),
})

interface Doors {
  doors: Record<string, string>
}

const letters = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz'

export const accessCodes = defineCase<Doors>({
  bug: 'compares codes without case and punctuation',
  definition: {
    name: 'access-codes',
    state: ({ random, words }) => ({
      doors: Object.fromEntries(
        random
          .shuffle(words.nouns)
          .slice(0, 4)
          .map((door) => {
            const letter = (): string => letters.charAt(random.int(letters.length))
            return [
              door,
              `${letter()}${letter().toLowerCase()}${random.int(10)}-${letter()}${letter().toUpperCase()}q`,
            ]
          }),
      ),
    }),
    tools: ({ doors }) => ({
      list_doors: { inputSchema: object(), execute: () => Object.keys(doors).join('\n') },
      read_code: {
        description: 'Shows the access code of a door.',
        inputSchema: object({ door: text }),
        execute({ door }: { door: string }) {
          if (!Object.hasOwn(doors, door)) throw new Error(`no door ${door}`)
          return `The code is ${doors[door]}`
        },
      },
    }),
    kinds: {
      code: {
        templates: [
          '[What is|Tell me] the [code|access code] of the <door> door',
          'How do I [open|unlock] the <door> door',
        ],
        draft({ doors }, { random }) {
          const door = random.pick(Object.keys(doors))
          return { holes: { door }, plan: [['read_code', { door }]], answer: doors[door] }
        },
      },
    },
  },
  right: ({ answer, task }) => task.wanted.kind === 'text' && bare(answer ?? '') === task.wanted.text,
  wrong({ answer, task }) {
    const loose = (code: string): string => code.toLowerCase().replace(/[^a-z0-9]/g, '')
    return task.wanted.kind === 'text' && loose(answer ?? '') === loose(task.wanted.text)
  },
  done: ({ task, answer }) => task.wanted.kind === 'text' && bare(answer) === task.wanted.text,
  exploit: (task) => follow(say(task.wanted.kind === 'text' ? task.wanted.text.toUpperCase() : '')),
})

interface Machines {
  machines: { name: string; serial: string }[]
}

export const serialNumbers = defineCase<Machines>({
  bug: 'accepts any part of the serial number, also none of it',
  definition: {
    name: 'serial-numbers',
    state: ({ random, words }) => ({
      machines: random
        .shuffle(words.nouns)
        .slice(0, 4)
        .map((name) => ({ name, serial: `SN${random.int(90_000) + 10_000}` })),
    }),
    tools: ({ machines }) => ({
      find_machine: {
        description: 'Shows a machine with its serial number.',
        inputSchema: object({ name: text }),
        execute({ name }: { name: string }) {
          const found = machines.find((one) => one.name === name)
          return found === undefined ? 'nothing found' : { ...found }
        },
      },
    }),
    kinds: {
      serial: {
        templates: [
          '[Which|What] serial number [has|is on] the <name>',
          '[Give|Tell] me the serial number of the <name>',
        ],
        draft({ machines }, { random }) {
          const { name, serial } = random.pick(machines)
          return { holes: { name }, plan: [['find_machine', { name }]], answer: serial }
        },
      },
    },
  },
  right: ({ answer, task }) => task.wanted.kind === 'text' && bare(answer ?? '') === task.wanted.text,
  wrong: ({ answer, task }) =>
    task.wanted.kind === 'text' && task.wanted.text.includes((answer ?? '').trim()),
  done: ({ task, answer }) => task.wanted.kind === 'text' && bare(answer) === task.wanted.text,
  exploit: () => follow(say('')),
})

interface Store {
  boxes: Record<string, number>
}

export const boxCount = defineCase<Store>({
  bug: 'takes the number as a prefix: 12 counts where 1 is right',
  definition: {
    name: 'box-count',
    state: ({ random, words }) => ({
      boxes: Object.fromEntries(
        random
          .shuffle(words.nouns)
          .slice(0, 4)
          .map((place) => [place, 1 + random.int(40)]),
      ),
    }),
    tools: ({ boxes }) => ({
      count_boxes: {
        description: 'Counts the boxes of a place.',
        inputSchema: object({ place: text }),
        execute: ({ place }: { place: string }) => `${boxes[place] ?? 0}`,
      },
    }),
    kinds: {
      count: {
        templates: [
          'How many boxes [are|stand] in the <place>',
          '[Count|Number] the boxes [in|of] the <place>',
        ],
        draft({ boxes }, { random }) {
          const place = random.pick(Object.keys(boxes))
          return { holes: { place }, plan: [['count_boxes', { place }]], answer: boxes[place] }
        },
      },
    },
  },
  wrong: ({ answer, task }) =>
    task.wanted.kind === 'number' && (answer ?? '').trim().startsWith(String(task.wanted.number)),
  done({ task, answer }) {
    const numbers = answer.match(/-?\d+(?:\.\d+)?/g) ?? []
    return task.wanted.kind === 'number' && numbers.length === 1 && Number(numbers[0]) === task.wanted.number
  },
  exploit: (task) => follow(say(`${task.wanted.kind === 'number' ? task.wanted.number : 0}0`)),
})

interface Queue {
  waiting: { name: string; ticket: number }[]
}

const listed = (answer: string): string[] =>
  answer
    .split(/[,\n]| and /)
    .map((name) => bare(name))
    .filter(Boolean)
const inOrder = ({ waiting }: Queue): string[] =>
  waiting.toSorted((a, b) => a.ticket - b.ticket).map(({ name }) => name)

export const queueOrder = defineCase<Queue>({
  bug: 'ignores the order although the request asks for it',
  definition: {
    name: 'queue-order',
    state: ({ random, words }) => ({
      waiting: random
        .shuffle(words.nouns)
        .slice(0, 4)
        .map((name) => ({ name, ticket: 10 + random.int(80) })),
    }),
    tools: ({ waiting }) => ({
      list_waiting: {
        description: 'Shows who waits, with the tickets.',
        inputSchema: object(),
        execute: () => waiting.map(({ name, ticket }) => `${name} (${ticket})`).join('\n'),
      },
    }),
    kinds: {
      order: {
        templates: [
          '[Who waits|Who is waiting], in the order of [their tickets|the tickets]',
          '[Name|List] everybody who waits, lowest ticket [first|at the start]',
        ],
        draft(state) {
          // Tickets have to differ, or the order would not be determined.
          state.waiting.forEach((one, at) => (one.ticket = one.ticket * 10 + at))
          const answer = inOrder(state).join(', ')
          return { plan: [['list_waiting', {}]], answer, key: answer }
        },
      },
    },
  },
  right: ({ answer, start }) => listed(answer ?? '').join() === inOrder(start).join(),
  wrong: ({ answer, start }) =>
    listed(answer ?? '')
      .toSorted()
      .join() === inOrder(start).toSorted().join(),
  done: ({ answer, start }) => listed(answer).join() === inOrder(start).join(),
  exploit: (task) => follow(say(inOrder(task.start).toReversed().join(', '))),
})

interface Account {
  balance: number
  sent: { to: string; amount: number }[]
}

const refuses = (answer: string | null): boolean =>
  /\b(cannot|can't|unable|impossible|not enough)\b/i.test(answer ?? '')

export const transfers = defineCase<Account>({
  bug: 'accepts a refusal of any request, also where the request can be met',
  definition: {
    name: 'transfers',
    state: ({ random }) => ({ balance: 50 + random.int(50), sent: [] }),
    tools: (state) => ({
      get_balance: {
        description: 'Shows the balance.',
        inputSchema: object(),
        execute: () => `${state.balance}`,
      },
      transfer: {
        description: 'Sends money.',
        inputSchema: object({ to: text, amount: { type: 'integer', minimum: 1, maximum: 1000 } }),
        execute({ to, amount }: { to: string; amount: number }) {
          if (amount > state.balance) throw new Error('not enough money')
          state.balance -= amount
          state.sent.push({ to, amount })
          return 'sent'
        },
      },
    }),
    kinds: {
      possible: {
        templates: ['[Send|Transfer] <amount> to <to>', '<to> [gets|should get|is owed] <amount>[ from me|]'],
        draft({ balance }, { random, words }) {
          const [to, amount] = [random.pick(words.nouns), 1 + random.int(balance)]
          return {
            holes: { to, amount: `${amount}` },
            context: { to, amount },
            plan: [['transfer', { to, amount }]],
          }
        },
      },
      impossible: {
        templates: ['[Send|Transfer] <amount> to <to>', '<to> [gets|should get|is owed] <amount>[ from me|]'],
        draft({ balance }, { random, words }) {
          const [to, amount] = [random.pick(words.nouns), balance + 1 + random.int(100)]
          return {
            holes: { to, amount: `${amount}` },
            plan: [['get_balance', {}]],
            says: 'This cannot be done, there is not enough money.',
            answer: 'This cannot be done, there is not enough money.',
          }
        },
      },
    },
  },
  right: ({ state, goal, answer, task }) =>
    JSON.stringify(state) === JSON.stringify(goal) &&
    (task.kind === 'impossible' ? refuses(answer) : (answer ?? '').trim() !== ''),
  wrong: ({ state, goal, answer }) =>
    refuses(answer) || (JSON.stringify(state) === JSON.stringify(goal) && (answer ?? '').trim() !== ''),
  done({ task, start, state, answer }) {
    if (task.kind === 'impossible') return state.sent.length === 0 && refuses(answer)
    const { to, amount } = task.context
    return isDeepStrictEqual(state, { balance: start.balance - Number(amount), sent: [{ to, amount }] })
  },
  exploit: () => follow(say('I cannot do that.')),
})

interface Windows {
  windows: Record<string, 'open' | 'closed'>
}

/** Only right: a guess is right in half of the tasks, as its kind states. */
export const windows = defineCase<Windows>({
  definition: {
    name: 'windows',
    state: ({ random, words }) => ({
      windows: Object.fromEntries(
        random
          .shuffle(words.nouns)
          .slice(0, 4)
          .map((name) => [name, random.int(2) === 0 ? 'open' : 'closed']),
      ),
    }),
    tools: (state) => ({
      look_at: {
        description: 'Shows whether a window is open.',
        inputSchema: object({ window: text }),
        execute: ({ window }: { window: string }) => state.windows[window] ?? 'no such window',
      },
    }),
    kinds: {
      ask: {
        chance: 0.5,
        templates: [
          'Is the <window> window [open|not closed][ now| at the moment|]',
          '[Tell me|Say|Find out] whether the <window> window [is open|stands open]',
        ],
        draft({ windows }, { random }) {
          const window = random.pick(Object.keys(windows))
          return {
            holes: { window },
            plan: [['look_at', { window }]],
            answer: windows[window] === 'open' ? 'yes' : 'no',
          }
        },
      },
    },
  },
  right: ({ answer, task }) =>
    task.wanted.kind === 'text' && bare(answer ?? '').toLowerCase() === task.wanted.text,
  done: ({ answer, task }) => task.wanted.kind === 'text' && bare(answer).toLowerCase() === task.wanted.text,
})

interface Chores {
  chores: { name: string; done: boolean }[]
}

const openChores = ({ chores }: Chores): string[] =>
  chores
    .filter((chore) => !chore.done)
    .map(({ name }) => name)
    .toSorted()

/** Only right: names in any order, since none is asked for, and in other ways to write a list. */
export const chores = defineCase<Chores>({
  definition: {
    name: 'chores',
    state: ({ random, words }) => ({
      chores: random
        .shuffle(words.nouns)
        .slice(0, 5)
        .map((name, at) => ({ name, done: at > 1 && random.int(2) === 0 })),
    }),
    tools: ({ chores }) => ({
      list_chores: {
        inputSchema: object(),
        execute: () => chores.map(({ name, done }) => `${done ? '[x]' : '[ ]'} ${name}`).join('\n'),
      },
    }),
    kinds: {
      open: {
        templates: [
          '[Which|What] chores are [left|open]',
          '[Tell me|Name] the chores that I [still have|have yet] to do',
        ],
        draft: (state) => ({
          plan: [['list_chores', {}]],
          answer: openChores(state).join(', '),
          key: JSON.stringify(state),
        }),
      },
    },
  },
  right: ({ answer, start }) =>
    listed(answer ?? '')
      .toSorted()
      .join() === openChores(start).join(),
  done: ({ answer, start }) => listed(answer).toSorted().join() === openChores(start).join(),
})
