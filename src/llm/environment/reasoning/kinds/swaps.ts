import { defineKind } from '../kind.ts'
import { several } from '../shared/draws.ts'
import { scoreWord } from '../shared/scores.ts'
import { listed, people, things } from '../shared/words.ts'

/** Who holds what after exchanges. */
export const swaps = defineKind({
  name: 'swaps',
  about: 'who holds what after people exchanged their things',
  knobs: {
    people: { least: 2, most: 6, about: 'with one thing each' },
    swaps: { least: 1, most: 8, about: 'one after another' },
  },
  levels: [
    { people: 3, swaps: 1 },
    { people: 3, swaps: 3 },
    { people: 5, swaps: 5 },
  ],
  templates: [
    '<start>. <swaps> [What does|What thing does] <name> have [now|in the end|at last]',
    '[At first|At the start] <start>. <swaps> [What does <name> have|Tell me what <name> has] [now|in the end|at last]',
  ],
  unseen: ['<start>. <swaps> Which thing would one find with <name>'],
  draw(random, { people: count, swaps: length }) {
    const names = several(random, people, count)
    return {
      names,
      held: several(random, things, count),
      swaps: Array.from({ length }, () => several(random, names, 2)),
      asked: random.pick(names),
    }
  },
  pose({ names, held, swaps: list, asked }) {
    const has = new Map<string, string>(names.map((name, i) => [name, held[i]]))
    const start = listed(names.map((name, i) => `${name} has the ${held[i]}`))
    const told = list.map(([a, b]) => `${a} and ${b} swap.`).join(' ')
    const lines = list.map(([a, b]) => {
      const [left, right] = [has.get(a) as string, has.get(b) as string]
      has.set(a, right)
      has.set(b, left)
      return `${a} ${right}, ${b} ${left}`
    })
    const answer = has.get(asked) as string
    return {
      key: `${names
        .map((name, i) => `${name} ${held[i]}`)
        .sort()
        .join(', ')}: ${told} ${asked}`,
      holes: { start, swaps: told, name: asked },
      thought: lines,
      answer,
      score: (given) => scoreWord(given, answer),
    }
  },
})
