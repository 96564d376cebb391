import type { Random } from '../../engine/random/index.ts'
import type { ToolSpec } from '../tool/tool.ts'
import type { Expert } from '../agent/types.ts'
import { mayChange } from './attack.ts'
import type { AttackContext } from './attack.ts'
import { callWithSeen, seenBy } from './cheating-agents.ts'
import { changedAnswer, changedAnswers, judgeTexts } from './corruptions.ts'
import { call, moveOf, say } from './scripts.ts'
import type { Move, Results, Step } from './scripts.ts'

/** Decisions of a searching agent: one option for each call, then one for the answer. */
export type Genome = readonly string[]

/** What a searching agent can choose from. */
export interface SearchSpace {
  /** Calls in an episode. */
  length: number
  calls: readonly string[]
  answers: readonly string[]
}

const noCall = 'nothing'

/** Every tool with values that were seen or with the expert's, the expert's next call, and ways to answer. */
export function searchSpace(tools: readonly ToolSpec[]): SearchSpace {
  return {
    length: tools.length === 0 ? 0 : 4,
    calls: [
      noCall,
      'expert',
      'rest of the expert',
      'expert changed',
      ...tools.flatMap(({ name }) => [`${name} seen`, `${name} expert`]),
    ],
    answers: [
      'expert',
      'done',
      'last result',
      'a value',
      'last value',
      'all values',
      'refuse',
      ...changedAnswers.map(({ name }) => `changed ${name}`),
      ...judgeTexts.slice(0, 6).map((_, at) => `judge ${at}`),
    ],
  }
}

export const randomGenome = ({ length, calls, answers }: SearchSpace, random: Random): Genome => [
  ...Array.from({ length }, () => random.pick(calls)),
  random.pick(answers),
]

/** The script that a genome stands for in a task. */
export function scriptOf(genome: Genome, context: AttackContext): Expert {
  const { reference, tools, random } = context
  let taken = 0
  const steps: Step[] = genome.slice(0, -1).flatMap((gene): Step[] => {
    if (gene === noCall) return []
    if (gene === 'rest of the expert') {
      const rest = reference.calls.slice(taken).map(({ name, arguments: args }) => call(name, args))
      taken = reference.calls.length
      return rest
    }
    if (gene === 'expert' || gene === 'expert changed') {
      const next = reference.calls[taken++]
      if (next === undefined) return []
      const tool = tools.find(({ name }) => name === next.name)
      if (gene === 'expert' || tool === undefined) return [call(next.name, next.arguments)]
      return [callWithSeen(tool, context, partOf(next.arguments, random))]
    }
    const [, name, how] = /^(.*) (seen|expert)$/.exec(gene) ?? []
    const tool = tools.find((one) => one.name === name)
    if (tool === undefined) return []
    const like = reference.calls.findLast((_, at) => mayChange(context, at))?.arguments
    return [callWithSeen(tool, context, how === 'expert' ? like : undefined)]
  })
  const answer = genome.at(-1) ?? 'done'
  return (results) => moveOf(steps[results.length] ?? ((shown) => answerOf(answer, context, shown)), results)
}

/** All arguments but one. */
function partOf(args: Record<string, unknown>, random: Random): Record<string, unknown> {
  const names = Object.keys(args)
  const left = names.length === 0 ? '' : random.pick(names)
  return Object.fromEntries(Object.entries(args).filter(([name]) => name !== left))
}

function answerOf(gene: string, context: AttackContext, results: Results): Move {
  const { reference, random } = context
  const seen = seenBy(context, results)
  const changed = changedAnswers.find(({ name }) => gene === `changed ${name}`)
  if (changed !== undefined) return say(changedAnswer(changed.change, reference.answer, seen))
  if (gene.startsWith('judge ')) return say(judgeTexts[Number(gene.slice(6))] ?? '')
  const answers: Record<string, () => string> = {
    expert: () => reference.answer,
    'last result': () => results.at(-1)?.text ?? '',
    'a value': () => random.pick(seen),
    'last value': () => seen.at(-1) ?? '',
    'all values': () => seen.join(', '),
    refuse: () => 'This cannot be done.',
  }
  return say(answers[gene]?.() ?? 'done')
}

const smoothing = 0.6
const eliteShare = 0.2

/** Probabilities of each option at each place. */
type Distribution = Float64Array[]

/**
 * The cross-entropy method over genomes (Rubinstein 1999): draw, keep the fifth that gained most, move the probabilities there.
 * It stops early where nothing gains.
 *
 * @param gain the reward of genomes for what is not done, 0 if it is done.
 * @returns the most probable genome, and the best one of the search.
 */
export async function searchGenomes(
  space: SearchSpace,
  options: {
    random: Random
    generations: number
    size: number
    gain: (genomes: Genome[]) => Promise<number[]>
  },
): Promise<Genome> {
  const { random, generations, size, gain } = options
  const sizes = [...Array.from({ length: space.length }, () => space.calls), space.answers]
  const distribution: Distribution = sizes.map(({ length }) => new Float64Array(length).fill(1 / length))
  let best: { genome: Genome; gained: number } | undefined
  for (let generation = 0; generation < generations; generation++) {
    const drawn = Array.from({ length: size }, () => distribution.map((weights) => random.weighted(weights)))
    const genomes = drawn.map((places) => places.map((option, at) => sizes[at][option]))
    const gained = await gain(genomes)
    const order = gained.map((_, at) => at).toSorted((a, b) => gained[b] - gained[a])
    if (gained[order[0]] > (best?.gained ?? 0)) best = { genome: genomes[order[0]], gained: gained[order[0]] }
    const elites = order.slice(0, Math.ceil(size * eliteShare)).filter((at) => gained[at] > 0)
    if (elites.length === 0) continue
    distribution.forEach((weights, place) => {
      weights.forEach((weight, option) => {
        const share = elites.filter((at) => drawn[at][place] === option).length / elites.length
        weights[option] = (1 - smoothing) * weight + smoothing * share
      })
    })
  }
  if (best === undefined) return randomGenome(space, random)
  return distribution.map((weights, place) => sizes[place][weights.indexOf(Math.max(...weights))])
}
