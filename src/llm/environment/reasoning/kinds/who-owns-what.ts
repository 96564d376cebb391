import type { Random } from '../../../../engine/random/index.ts'
import { defineKind } from '../kind.ts'
import { several } from '../shared/draws.ts'
import { itemsOf, scoreDecisions } from '../shared/scores.ts'
import { people } from '../shared/words.ts'

const colours = ['red', 'blue', 'green', 'white'] as const
const pets = ['cat', 'dog', 'fish', 'owl'] as const

/** The colour and the pet of every person, by index. */
interface EnvironmentDefinition {
  colour: readonly number[]
  pet: readonly number[]
}
type Clue =
  | { kind: 'colour' | 'pet'; who: number; what: number; holds: boolean }
  | { kind: 'both'; colour: number; pet: number; holds: boolean }

/** A small zebra puzzle: who has which colour and which pet; clues that leave one way. */
export const whoOwnsWhat = defineKind({
  name: 'who-owns-what',
  about: 'who owns which pet, from clues about people, colours and pets',
  knobs: { people: { least: 2, most: 4, about: 'with one colour and one pet each' } },
  levels: [{ people: 2 }, { people: 3 }, { people: 4 }],
  templates: [
    '<names> [each have|have each] a house in another colour (<colours>) and another pet (<pets>). <clues> [Who has which pet|Which pet has each of them|Name the pet of each]',
    '[There are|Meet] <names>, [whose houses have different colours|with houses in different colours] (<colours>) and different pets (<pets>). <clues> [Who has which pet|Which pet has each of them]',
  ],
  unseen: [
    'Neighbours: <names>. Colours: <colours>. Animals: <pets>, nothing twice. <clues> Match animals to neighbours',
  ],
  draw(random, { people: count }) {
    const names = several(random, people, count)
    const environments = allEnvironments(count)
    const truth = random.pick(environments)
    const open = (clues: readonly Clue[]): EnvironmentDefinition[] =>
      environments.filter((environment) => clues.every((clue) => isTrue(clue, environment)))
    const settles = (clues: readonly Clue[]): boolean =>
      new Set(open(clues).map(({ pet }) => pet.join(''))).size === 1
    let clues: Clue[] = []
    while (!settles(clues)) {
      const clue = drawClue(random, truth, count)
      // What is not so takes many clues.
      if (!clue.holds && random.int(4) > 0) continue
      if (open([...clues, clue]).length < open(clues).length) clues.push(clue)
    }
    // Every clue that is left is needed.
    for (const clue of clues) {
      const fewer = clues.filter((other) => other !== clue)
      if (settles(fewer)) clues = fewer
    }
    return { names, clues }
  },
  pose({ names, clues }) {
    const size = names.length
    const fitting = allEnvironments(size).filter((environment) =>
      clues.every((clue) => isTrue(clue, environment)),
    )
    const owned = fitting[0].pet.map((pet) => pets[pet])
    const lines = clues.map((clue) => say(clue, names))
    return {
      key: [...[...names].sort(), ...[...lines].sort()].join(' '),
      holes: {
        names: names.join(', '),
        colours: colours.slice(0, size).join(', '),
        pets: pets.slice(0, size).join(', '),
        clues: lines.join(' '),
      },
      thought: [],
      answer: names.map((name, i) => `${name} ${owned[i]}`).join(', '),
      score(given) {
        const words = itemsOf(given.replaceAll(/[:=]/g, ' ')).filter(
          (word) => !['has', 'a', 'an', 'the', 'owns', 'is', 'with'].includes(word),
        )
        const said = names.map((name) => words[words.indexOf(name.toLowerCase()) + 1])
        if (words.length !== 2 * size || !names.every((name) => words.includes(name.toLowerCase()))) return 0
        return scoreDecisions(said.filter((pet, i) => pet === owned[i]).length, size)
      },
    }
  },
})

function permutations(size: number): number[][] {
  if (size === 0) return [[]]
  return permutations(size - 1).flatMap((rest) =>
    Array.from({ length: size }, (_, at) => [...rest.slice(0, at), size - 1, ...rest.slice(at)]),
  )
}

const allEnvironments = (size: number): EnvironmentDefinition[] =>
  permutations(size).flatMap((colour) => permutations(size).map((pet) => ({ colour, pet })))

function isTrue(clue: Clue, environment: EnvironmentDefinition): boolean {
  const same =
    clue.kind === 'both'
      ? environment.colour.indexOf(clue.colour) === environment.pet.indexOf(clue.pet)
      : environment[clue.kind][clue.who] === clue.what
  return same === clue.holds
}

function drawClue(random: Random, truth: EnvironmentDefinition, size: number): Clue {
  const kind = random.pick(['colour', 'pet', 'both', 'both'] as const)
  const clue: Clue =
    kind === 'both'
      ? { kind, colour: random.int(size), pet: random.int(size), holds: true }
      : { kind, who: random.int(size), what: random.int(size), holds: true }
  return { ...clue, holds: isTrue(clue, truth) }
}

function say(clue: Clue, names: readonly string[]): string {
  const has = clue.holds ? 'has' : 'does not have'
  if (clue.kind === 'both')
    return `Who lives in the ${colours[clue.colour]} house ${has} the ${pets[clue.pet]}.`
  return clue.kind === 'pet'
    ? `${names[clue.who]} ${has} the ${pets[clue.what]}.`
    : `${names[clue.who]} ${clue.holds ? 'lives' : 'does not live'} in the ${colours[clue.what]} house.`
}
