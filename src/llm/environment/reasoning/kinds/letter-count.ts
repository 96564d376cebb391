import { defineKind } from '../kind.ts'
import { several } from '../shared/draws.ts'
import { scoreNumber } from '../shared/scores.ts'
import { please, things } from '../shared/words.ts'

/** Letters in words: spelled out, then counted. */
export const letterCount = defineKind({
  name: 'letter-count',
  about: 'how often a letter occurs',
  knobs: { words: { least: 1, most: 4, about: 'to look at' } },
  levels: [{ words: 1 }, { words: 2 }, { words: 3 }],
  templates: [
    '[How often|How many times] does the letter <letter> [occur|appear|stand] in <text>',
    `${please}count [the letter|every|each letter] <letter> in <text>`,
    '[How many|Count how many|Tell me how many] letters <letter> [are in|are there in] <text>',
  ],
  unseen: ['Spell <text> and say how frequent <letter> is'],
  draw(random, { words }) {
    const text = several(random, things, words).join(' ')
    const letters = Array.from(text.replaceAll(' ', ''))
    return { text, letter: random.int(4) === 0 ? random.pick(Array.from('aeinorst')) : random.pick(letters) }
  },
  pose({ text, letter }) {
    let count = 0
    const spelled = Array.from(text.replaceAll(' ', '')).map((next) => {
      if (next !== letter) return next
      count++
      return `${next} ${count}`
    })
    return {
      key: `${letter} ${text.split(' ').sort().join(' ')}`,
      holes: { text, letter },
      thought: [spelled.join(', ')],
      answer: String(count),
      score: (given) => scoreNumber(given, count, ['times', 'time']),
    }
  },
})
