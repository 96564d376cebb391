import { defineKind } from '../kind.ts'
import { between, chance } from '../shared/draws.ts'
import { partly } from '../shared/scores.ts'
import { please } from '../shared/words.ts'

const closing: Readonly<Record<string, string>> = { '(': ')', '[': ']', '{': '}', '<': '>' }

/** The brackets that are still open, closed in order. */
export const brackets = defineKind({
  name: 'brackets',
  about: 'the brackets that close a sequence',
  knobs: {
    length: { least: 6, most: 40, about: 'of the sequence' },
    kinds: { least: 2, most: 4, about: 'of brackets' },
  },
  levels: [
    { length: 6, kinds: 3 },
    { length: 10, kinds: 4 },
    { length: 20, kinds: 4 },
  ],
  templates: [
    '[Close|Complete|Finish] the brackets <sequence> and [give|write] only what is missing',
    `${please}[close|complete] the brackets <sequence>, [giving|writing] only what is missing`,
    '[Which brackets|What] must follow <sequence> so that [all are closed|every bracket is closed]',
  ],
  unseen: ['The string <sequence> was cut off, so write the rest that balances it'],
  draw(random, { length, kinds }) {
    const opening = Object.keys(closing).slice(0, kinds)
    const open: string[] = []
    let text = ''
    while (text.length < length || open.length === 0) {
      const last = open.at(-1)
      if (last !== undefined && open.length > 1 && chance(random, 0.45)) {
        text += closing[last]
        open.pop()
      } else {
        open.push(opening[between(random, 0, kinds - 1)])
        text += open.at(-1)
      }
    }
    return { text }
  },
  pose({ text }) {
    const open: string[] = []
    for (const letter of text) {
      if (closing[letter] === undefined) open.pop()
      else open.push(letter)
    }
    const answer = [...open].reverse().map((letter) => closing[letter])
    const spaced = Array.from(text).join(' ')
    return {
      key: text,
      holes: { sequence: spaced },
      thought: [`open ${open.join(' ')}`],
      answer: answer.join(' '),
      score(given) {
        const said = Array.from(given.replaceAll(/\s/g, ''))
        if (said.length === 0 || said.length > 200 || said.some((letter) => !'()[]{}<>'.includes(letter)))
          return 0
        const wrong = answer.findIndex((letter, i) => said[i] !== letter)
        if (wrong < 0 && said.length === answer.length) return 1
        // A beginning that is right, of the answer; closing too much is as wrong as closing wrongly.
        return partly((wrong < 0 ? answer.length : wrong) / Math.max(said.length, answer.length))
      },
    }
  },
})
