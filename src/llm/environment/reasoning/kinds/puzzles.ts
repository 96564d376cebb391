import type { Random } from '../../../../engine/random/index.ts'
import { defineKind, itemsOf, scoreDecisions } from '../kind.ts'
import { listed, people, several, until } from '../shared/draws.ts'

/** What a speaker says about others, by index. */
type Claim =
  | { kind: 'is'; who: number; knight: boolean }
  | { kind: 'same' | 'different'; who: number; other: number }
  | { kind: 'either'; who: number; other: number }

function isClaimTrue(claim: Claim, knights: readonly boolean[]): boolean {
  if (claim.kind === 'is') return knights[claim.who] === claim.knight
  if (claim.kind === 'either') return knights[claim.who] || knights[claim.other]
  return (knights[claim.who] === knights[claim.other]) === (claim.kind === 'same')
}

const kindOf = (knight: boolean): string => (knight ? 'knight' : 'knave')

/** Who tells the truth always (knights), and who lies always (knaves); exactly one answer fits. */
export const knightsKnaves = defineKind({
  name: 'knights-knaves',
  about: 'who always tells the truth and who always lies',
  knobs: {
    people: { least: 2, most: 4, about: 'who speak' },
    claims: { least: 1, most: 2, about: '1 = of what kind or whether of the same, 2 = either-or too' },
  },
  levels: [
    { people: 2, claims: 1 },
    { people: 3, claims: 1 },
    { people: 4, claims: 2 },
  ],
  templates: [
    '[A knight always tells the truth and a knave always lies.|Knights tell the truth and knaves lie.] <claims> [Who is what|What is each of them|Who is a knight and who is a knave]',
    '[On an island|Here] [everybody is|each person is] a knight, who tells the truth, or a knave, who lies. <claims> [Who is what|What is everybody]',
  ],
  unseen: ['Some only speak the truth (knights), the rest only lie (knaves). <claims> Sort them'],
  draw(random, { people: size, claims: kinds }) {
    const names = several(random, people, size)
    return until(() => {
      const claims = names.map((_, speaker) => drawClaim(random, speaker, size, kinds))
      return solutions(claims).length === 1 ? { names, claims } : undefined
    })
  },
  pose({ names, claims }) {
    const [knights] = solutions(claims)
    const lines = claims.map((claim, speaker) => `${names[speaker]} says: ${sayClaim(claim, names)}.`)
    return {
      key: [...lines].sort().join(' '),
      holes: { claims: lines.join(' ') },
      thought: tries(claims, names),
      answer: knights.map((knight, i) => `${names[i]} is a ${kindOf(knight)}`).join(', '),
      score(given) {
        const said = read(given)
        if (said === undefined || names.some((name) => !said.has(name.toLowerCase()))) return 0
        const right = names.filter((name, i) => said.get(name.toLowerCase()) === kindOf(knights[i]))
        return scoreDecisions(right.length, names.length)
      },
    }
  },
})

function drawClaim(random: Random, speaker: number, size: number, kinds: number): Claim {
  const others = random.shuffle(Array.from({ length: size }, (_, i) => i).filter((i) => i !== speaker))
  const kind = random.int(kinds + 1)
  if (kind === 0) return { kind: 'is', who: others[0], knight: random.int(2) === 0 }
  const [who, other] = [speaker, others[0]]
  if (kind === 1) return { kind: random.pick(['same', 'different']), who, other }
  return { kind: 'either', who: others[0], other: others[1] ?? speaker }
}

function sayClaim(claim: Claim, names: readonly string[]): string {
  if (claim.kind === 'is') return `${names[claim.who]} is a ${kindOf(claim.knight)}`
  const both = listed([names[claim.who], names[claim.other]])
  return claim.kind === 'either'
    ? `at least one of ${both} is a knight`
    : `${both} are ${claim.kind === 'same' ? 'of the same kind' : 'of different kinds'}`
}

/** All ways in which everybody could be a knight or a knave, everybody a knight first. */
const cases = (size: number): boolean[][] =>
  Array.from({ length: 2 ** size }, (_, row) =>
    Array.from({ length: size }, (_, i) => ((row >> i) & 1) === 0),
  )

const fits = (claims: readonly Claim[], knights: readonly boolean[]): boolean =>
  claims.every((claim, speaker) => isClaimTrue(claim, knights) === knights[speaker])

const solutions = (claims: readonly Claim[]): boolean[][] =>
  cases(claims.length).filter((knights) => fits(claims, knights))

/** Case by case (T = tells the truth, L = lies) until one fits; a case that does not fit names somebody whose words contradict it. */
function tries(claims: readonly Claim[], names: readonly string[]): string[] {
  const lines: string[] = []
  for (const knights of cases(claims.length)) {
    const wrong = claims.findIndex((claim, speaker) => isClaimTrue(claim, knights) !== knights[speaker])
    const all = knights.map((knight) => (knight ? 'T' : 'L')).join('')
    lines.push(wrong < 0 ? `${all} fits` : `${all} not ${names[wrong]}`)
    if (wrong < 0) return lines
  }
  return lines
}

/** What the answer makes of each person; undefined where it says anything else, or of one person two things. */
function read(answer: string): Map<string, string> | undefined {
  const said = new Map<string, string>()
  for (const part of answer.toLowerCase().split(/\s*(?:[,;.\n]|\band\b)\s*/)) {
    if (part === '') continue
    const words = /^(\w+)(?: is(?: an?)?| =|:)? (knight|knave)$/.exec(part)
    if (words === null || said.has(words[1])) return undefined
    said.set(words[1], words[2])
  }
  return said
}

const colours = ['red', 'blue', 'green', 'white'] as const
const pets = ['cat', 'dog', 'fish', 'owl'] as const

/** The colour and the pet of every person, by index. */
interface Arrangement {
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
    const environments = allArrangements(count)
    const truth = random.pick(environments)
    const open = (clues: readonly Clue[]): Arrangement[] =>
      environments.filter((environment) => clues.every((clue) => isClueTrue(clue, environment)))
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
    const fitting = allArrangements(size).filter((environment) =>
      clues.every((clue) => isClueTrue(clue, environment)),
    )
    const petOf = fitting[0].pet.map((pet) => pets[pet])
    const lines = clues.map((clue) => sayClue(clue, names))
    return {
      key: [...[...names].sort(), ...[...lines].sort()].join(' '),
      holes: {
        names: names.join(', '),
        colours: colours.slice(0, size).join(', '),
        pets: pets.slice(0, size).join(', '),
        clues: lines.join(' '),
      },
      thought: [],
      answer: names.map((name, i) => `${name} ${petOf[i]}`).join(', '),
      score(given) {
        const words = itemsOf(given.replaceAll(/[:=]/g, ' ')).filter(
          (word) => !['has', 'a', 'an', 'the', 'owns', 'is', 'with'].includes(word),
        )
        const said = names.map((name) => words[words.indexOf(name.toLowerCase()) + 1])
        if (words.length !== 2 * size || !names.every((name) => words.includes(name.toLowerCase()))) return 0
        return scoreDecisions(said.filter((pet, i) => pet === petOf[i]).length, size)
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

const allArrangements = (size: number): Arrangement[] =>
  permutations(size).flatMap((colour) => permutations(size).map((pet) => ({ colour, pet })))

function isClueTrue(clue: Clue, environment: Arrangement): boolean {
  const same =
    clue.kind === 'both'
      ? environment.colour.indexOf(clue.colour) === environment.pet.indexOf(clue.pet)
      : environment[clue.kind][clue.who] === clue.what
  return same === clue.holds
}

function drawClue(random: Random, truth: Arrangement, size: number): Clue {
  const kind = random.pick(['colour', 'pet', 'both', 'both'] as const)
  const clue: Clue =
    kind === 'both'
      ? { kind, colour: random.int(size), pet: random.int(size), holds: true }
      : { kind, who: random.int(size), what: random.int(size), holds: true }
  return { ...clue, holds: isClueTrue(clue, truth) }
}

function sayClue(clue: Clue, names: readonly string[]): string {
  const has = clue.holds ? 'has' : 'does not have'
  if (clue.kind === 'both')
    return `Who lives in the ${colours[clue.colour]} house ${has} the ${pets[clue.pet]}.`
  return clue.kind === 'pet'
    ? `${names[clue.who]} ${has} the ${pets[clue.what]}.`
    : `${names[clue.who]} ${clue.holds ? 'lives' : 'does not live'} in the ${colours[clue.what]} house.`
}
