import { defineKind } from '../kind.ts'
import { between, several } from '../shared/draws.ts'
import { partly } from '../shared/scores.ts'
import { please, things } from '../shared/words.ts'

const shift = (text: string, by: number): string =>
  text.replaceAll(/[a-z]/g, (letter) =>
    String.fromCodePoint(97 + ((letter.charCodeAt(0) - 97 + by + 26) % 26)),
  )

/** Caesar's cipher, read back. */
export const caesar = defineKind({
  name: 'caesar',
  about: 'words read back from letters that were moved through the alphabet',
  knobs: {
    words: { least: 1, most: 3, about: 'in the text' },
    shift: { least: 1, most: 25, about: 'largest' },
  },
  levels: [
    { words: 1, shift: 2 },
    { words: 1, shift: 5 },
    { words: 2, shift: 13 },
  ],
  templates: [
    'Every letter [was|has been] moved <shift> [forward|further] in the alphabet, [giving|which gave] <text>. [What was it before|What was the text|Undo it]',
    `${please}decode <text>, [where|in which] every letter [was|has been] moved <shift> forward in the alphabet`,
  ],
  unseen: ['Caesar wrote <text> with a key of <shift>. What did he mean'],
  draw: (random, { words, shift: most }) => ({
    plain: several(random, things, words).join(' '),
    by: between(random, 1, most),
  }),
  pose({ plain, by }) {
    const text = shift(plain, by)
    return {
      key: `${by} ${plain}`,
      holes: { text, shift: String(by) },
      thought: [
        Array.from(plain)
          .flatMap((letter, i) => (letter === ' ' ? [] : [`${text[i]} ${letter}`]))
          .join(', '),
      ],
      answer: plain,
      score(given) {
        const said = given.toLowerCase()
        if (said === plain) return 1
        if (said.length !== plain.length) return 0
        return partly(Array.from(said).filter((letter, i) => letter === plain[i]).length / plain.length)
      },
    }
  },
})
