import type { Random } from '../../../../engine/random/index.ts'
import { defineKind } from '../kind.ts'
import { between, several } from '../shared/draws.ts'
import { partly } from '../shared/scores.ts'
import { please, things } from '../shared/words.ts'

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
