import type { Random } from '../../../../engine/random/index.ts'
import { defineKind, partly, scoreNumber } from '../kind.ts'
import { between, chance, please, several, things } from '../shared/draws.ts'

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

/** One instruction: what it says and what it does. */
interface Step {
  says: string
  does: (text: string) => string
}

const alphabet = Array.from('abcdefghijklmnopqrstuvwxyz')

/** The instruction that a name such as `replace a e` stands for. */
function stepOf(name: string): Step {
  const [kind, first, second] = name.split(' ')
  const by = Number(first)
  switch (kind) {
    case 'reverse':
      return { says: 'reverse it', does: (text) => Array.from(text).reverse().join('') }
    case 'left':
      return {
        says: `move the first ${by === 1 ? 'letter' : `${by} letters`} to the end`,
        does: (text) => text.slice(by) + text.slice(0, by),
      }
    case 'right':
      return { says: 'move the last letter to the front', does: (text) => text.slice(-1) + text.slice(0, -1) }
    case 'replace':
      return { says: `replace every ${first} by ${second}`, does: (text) => text.replaceAll(first, second) }
    case 'remove':
      return { says: `remove every ${first}`, does: (text) => text.replaceAll(first, '') }
    case 'double':
      return { says: `double every ${first}`, does: (text) => text.replaceAll(first, first + first) }
    default:
      return {
        says: 'swap the first and the last letter',
        does: (text) => (text.length < 2 ? text : text.at(-1) + text.slice(1, -1) + text[0]),
      }
  }
}

function drawStep(random: Random, text: string): string {
  const letter = random.pick(Array.from(text))
  return random.pick([
    'reverse',
    `left ${between(random, 1, 3)}`,
    'right',
    `replace ${letter} ${random.pick(alphabet)}`,
    `remove ${letter}`,
    `double ${letter}`,
    'swap',
  ])
}

/** Words taken through some instructions. */
export const stringProgram = defineKind({
  name: 'string-program',
  about: 'a word after reversing, rotating, replacing, removing, doubling or swapping letters',
  knobs: {
    steps: { least: 1, most: 6, about: 'one after another' },
    words: { least: 1, most: 2, about: 'joined to the word at the start' },
  },
  levels: [
    { steps: 1, words: 1 },
    { steps: 2, words: 1 },
    { steps: 4, words: 1 },
  ],
  templates: [
    '[Take|Start with|Begin with] the word <word>: <steps>. [What is the result|What comes out|What does it become]',
    `${please}[change|transform] the word <word> [as follows|in this way]: <steps>`,
    '[What becomes|What comes] of the word <word> if you <steps>',
  ],
  unseen: ['The letters of <word> go through a machine that will <steps>. Write its output'],
  draw(random, { steps, words }) {
    const word = several(random, things, words).join('')
    const names: string[] = []
    let text = word
    while (names.length < steps) {
      const name = drawStep(random, text)
      const next = stepOf(name).does(text)
      if (next.length < 2) continue
      names.push(name)
      text = next
    }
    return { word, names }
  },
  pose({ word, names }) {
    const steps = names.map(stepOf)
    const texts = [word]
    for (const step of steps) texts.push(step.does(texts.at(-1) as string))
    const answer = texts.at(-1) as string
    return {
      key: `${word}: ${names.join(', ')}`,
      holes: { word, steps: steps.map((step) => step.says).join(', then ') },
      thought: texts.slice(1).map((text) => `${Array.from(text).join(' ')}, ${text}`),
      answer,
      score(given) {
        const said = given.toLowerCase()
        if (said === answer) return 1
        if (said.length !== answer.length) return 0
        return partly(Array.from(said).filter((letter, i) => letter === answer[i]).length / answer.length)
      },
    }
  },
})

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
