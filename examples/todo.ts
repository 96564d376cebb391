import { defineToolEnvironment } from 'agoge'
import { z } from 'zod'

interface Item {
  text: string
  done: boolean
}

const item = z.object({ text: z.string() })

export const environment = defineToolEnvironment({
  name: 'todo',
  about: 'a to-do list: add, finish, remove, ask',
  state: ({ random, words }) => ({
    items: random
      .shuffle(words.nouns)
      .slice(0, 3 + random.int(3))
      .map((text): Item => ({ text, done: random.int(3) === 0 })),
  }),
  tools: (state) => ({
    add_item: {
      description: 'Adds an item.',
      inputSchema: item,
      execute: ({ text }: { text: string }) => {
        state.items.push({ text, done: false })
        return 'added'
      },
    },
    finish_item: {
      description: 'Marks an item as done.',
      inputSchema: item,
      execute: ({ text }: { text: string }) => {
        const found = state.items.find((one) => one.text === text)
        if (found === undefined) throw new Error(`no item ${text}`)
        found.done = true
        return 'finished'
      },
    },
    remove_item: {
      description: 'Removes an item.',
      inputSchema: item,
      execute: ({ text }: { text: string }) => {
        const at = state.items.findIndex((one) => one.text === text)
        if (at < 0) throw new Error(`no item ${text}`)
        state.items.splice(at, 1)
        return 'removed'
      },
    },
    list_items: {
      description: 'Shows all items.',
      inputSchema: z.object({}),
      execute: () => state.items.map(({ text, done }) => `${done ? '[x]' : '[ ]'} ${text}`).join('\n'),
    },
  }),
  kinds: {
    add: {
      templates: ['[Add|Put] <text> [to|on] my list', 'I [need|want] <text>[, please|]'],
      draft(state, { random, words }) {
        const text = random.pick(words.nouns.filter((noun) => state.items.every((one) => one.text !== noun)))
        return { holes: { text }, plan: [['add_item', { text }]] }
      },
    },
    finish: {
      templates: ['I [have done|am done with|finished] <text>[, tick it off|]', '<text> is [done|finished]'],
      draft(state, { random }) {
        const one = random.pick(state.items)
        one.done = false
        return { holes: { text: one.text }, plan: [['finish_item', { text: one.text }]] }
      },
    },
    count: {
      templates: [
        'How many [items|things] [are|stand] on my list',
        '[Count|Give me the number of] the [items|things] on my list',
      ],
      draft: (state) => ({ plan: [['list_items', {}]], answer: state.items.length }),
    },
    replace: {
      templates: [
        '[Replace|Change] <old> [by|to] <text>',
        '[Remove|Delete] <old> and [add|put] <text> instead',
      ],
      draft(state, { random, words }) {
        const old = random.pick(state.items).text
        const text = random.pick(words.nouns.filter((noun) => state.items.every((one) => one.text !== noun)))
        return {
          holes: { old, text },
          plan: [
            ['remove_item', { text: old }],
            ['add_item', { text }],
          ],
        }
      },
    },
  },
})
