import { defineKind } from '../kind.ts'
import { numbers, several } from '../shared/draws.ts'
import { itemsOf, scoreList } from '../shared/scores.ts'
import { please, things } from '../shared/words.ts'

/** Numbers or words, up or down. */
export const sorting = defineKind({
  name: 'sorting',
  about: 'numbers or words in order',
  knobs: {
    items: { least: 3, most: 12, about: 'to sort' },
    largest: { least: 20, most: 999, about: 'number' },
    words: { least: 0, most: 1, about: '1 = half of the questions have words' },
  },
  levels: [
    { items: 3, largest: 99, words: 0 },
    { items: 5, largest: 99, words: 1 },
    { items: 8, largest: 999, words: 1 },
  ],
  templates: [
    `${please}[sort|order|arrange] [these:|this list:|the list] <items>, <direction>`,
    '[Sort|Order|Put in order] <direction>: <items>',
    '[Give me|Write|Show me] <items> [sorted|ordered|in order], <direction>',
  ],
  unseen: ['The list <items> is a mess, bring it into sequence <direction>'],
  draw(random, { items, largest, words }) {
    const worded = words === 1 && random.int(2) === 0
    const drawn = worded ? several(random, things, items) : numbers(random, items, 1, largest).map(String)
    return { items: drawn, worded, up: random.int(2) === 0 }
  },
  pose({ items, worded, up }) {
    const sorted = [...items].sort((a, b) => (worded ? (a < b ? -1 : 1) : Number(a) - Number(b)))
    const wanted = up ? sorted : sorted.reverse()
    const [first, last] = worded ? ['a', 'z'] : ['smallest', 'largest']
    return {
      // Another order of the same items is the same task.
      key: `${up ? 'up' : 'down'} ${[...items].sort().join(' ')}`,
      holes: { items: items.join(', '), direction: `from ${up ? first : last} to ${up ? last : first}` },
      thought: [],
      answer: wanted.join(', '),
      score: (given) => scoreList(itemsOf(given), wanted),
    }
  },
})
