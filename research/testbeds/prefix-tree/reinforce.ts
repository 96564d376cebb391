import { isUniform } from 'agoge/losses'
import { createRandom } from 'agoge/engine'
import type { Random } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { advantagesOf } from './advantages.ts'
import { cosine, exactGradient, norm } from './exact.ts'
import { lossGradient } from './gradient.ts'
import type { Example, LearningRule } from './gradient.ts'
import { copyPolicy, sampleGroup } from './policy.ts'
import type { Answer, PrefixPolicy } from './policy.ts'

/** What happened in a step: means over its answers, or over its updates. */
export interface StepMeasures {
  /** As training sees it, and the true one. */
  reward: number
  score: number
  /** Share of answers with a training reward that is not 0. */
  rewardDensity: number
  /** Share of zero-variance groups. */
  zeroVariance: number
  truncated: number
  length: number
  lengthVariance: number
  /** Nats per token, estimated from the sampled tokens. */
  entropy: number
  /** Means over the updates of the step. */
  clipFraction: number
  gradientNorm: number
  /** Over all tokens and updates of the step. */
  lowestRatio: number
  highestRatio: number
  /** Cosine between the first update and the exact gradient of the expected training reward; 0 unless asked for. */
  cosine: number
}

/** Settings of `reinforce`. */
export interface ReinforceSettings {
  rule: LearningRule
  /** Indices of the questions to train on, which are drawn without replacement until none is left. */
  questions: readonly number[]
  steps: number
  learningRate: number
  seed: number
  /** Questions per step. Default: 8. */
  batch?: number
  /** Answers per question. Default: 8. */
  groupSize?: number
  /** Passes over a batch, each of `minibatches` updates. Default: 1. */
  epochs?: number
  minibatches?: number
  /** How many times zero-variance groups are replaced by groups of other questions. Default: 0. */
  resampling?: number
  /** Ends before the step in which as many answers were sampled. Default: no limit. */
  answers?: number
  /** Clip of the gradient norm. Default: none. */
  clipNorm?: number
  /** Default: the policy as it is given. */
  reference?: PrefixPolicy
  /** Whether to compute the cosine with the exact gradient, which walks the tree in each step. Default: false. */
  cosine?: boolean
  /** Replaces the drawing of questions. */
  draw?: (random: Random, step: number) => readonly number[]
  /** Replaces the sampling of the answers to a question. */
  sample?: (question: number, random: Random, step: number) => Answer[]
  /** Replaces or adds examples to learn from. Default: the answers of the group with their advantages. */
  examples?: (examples: Example[], group: readonly Answer[], step: number) => Example[]
  /** Called after each step. */
  onStep?: (step: number, measures: StepMeasures, groups: readonly (readonly Answer[])[]) => void
}

/** What a run of `reinforce` did. */
export interface ReinforceReport {
  /** Means over the steps. */
  measures: StepMeasures
  steps: number
  /** Answers sampled, including those of groups that were replaced. */
  answers: number
}

/** Group-relative RL by plain gradient descent. The policy is changed. Every part can be replaced. */
export function reinforce(policy: PrefixPolicy, settings: ReinforceSettings): ReinforceReport {
  const { steps, seed, batch = 8, groupSize = 8, resampling = 0, rule, onStep } = settings
  const { answers: mostAnswers = Infinity, sample: sampling } = settings
  const random = createRandom(seed, 'prefix-tree')
  const deck = drawer(settings.questions)
  const reference = rule.kl === undefined ? undefined : (settings.reference ?? copyPolicy(policy))
  const all: StepMeasures[] = []
  let answers = 0
  for (let step = 0; step < steps; step++) {
    if (answers >= mostAnswers) break
    const ask = (question: number): Answer[] => {
      const group =
        sampling?.(question, random, step) ?? sampleGroup(policy, question, random, { size: groupSize })
      answers += group.length
      return group
    }
    const questions = settings.draw?.(random, step) ?? Array.from({ length: batch }, () => deck(random))
    const sampled = questions.map(ask)
    const groups = [...sampled]
    for (let round = 0; round < resampling; round++)
      for (const [g, group] of groups.entries()) if (uniform(group)) groups[g] = ask(deck(random))
    const measures = learnGroups(policy, groups, settings, { step, ...(reference && { reference }) })
    // The share of zero-variance groups is that of what was sampled first.
    measures.zeroVariance = average(sampled.map((group) => Number(uniform(group))))
    all.push(measures)
    onStep?.(step, measures, groups)
  }
  return { measures: meanMeasures(all), steps: all.length, answers }
}

const uniform = (group: readonly Answer[]): boolean => isUniform(group.map(({ reward }) => reward))

/** Draws questions without replacement, in a new order each time that none is left. */
function drawer(questions: readonly number[]): (random: Random) => number {
  let deck: number[] = []
  return (random) => {
    if (deck.length === 0) deck = random.shuffle(questions)
    return deck.pop()!
  }
}

/** All updates on one batch of groups. */
function learnGroups(
  policy: PrefixPolicy,
  groups: readonly (readonly Answer[])[],
  settings: ReinforceSettings,
  { step, reference }: { step: number; reference?: PrefixPolicy },
): StepMeasures {
  const { rule, epochs = 1, minibatches = 1, questions } = settings
  const advantages = advantagesOf(policy, groups, rule.advantage, rule.shaping)
  const examples = groups.map((group, g) => {
    const plain: Example[] = []
    for (const [m, answer] of group.entries()) {
      const advantage = advantages[g][m]
      if (advantage !== null) plain.push({ answer, advantage })
    }
    return settings.examples?.(plain, group, step) ?? plain
  })
  const measures = describe(groups)
  if (settings.cosine === true) {
    const { gradient } = lossGradient(policy, examples.flat(), rule, reference)
    measures.cosine = -cosine(gradient, exactGradient(policy, questions, 'training'))
  }
  const size = Math.ceil(groups.length / minibatches)
  for (let epoch = 0; epoch < epochs; epoch++)
    for (let part = 0; part < minibatches; part++) {
      const update = lossGradient(
        policy,
        examples.slice(part * size, (part + 1) * size).flat(),
        rule,
        reference,
      )
      const length = descend(policy, update.gradient, settings)
      measures.gradientNorm += length / (epochs * minibatches)
      measures.clipFraction += update.clipFraction / (epochs * minibatches)
      measures.lowestRatio = Math.min(measures.lowestRatio, update.lowestRatio)
      measures.highestRatio = Math.max(measures.highestRatio, update.highestRatio)
    }
  return measures
}

/** One step of gradient descent. Returns the norm of the gradient before the clip. */
export function descend(
  policy: PrefixPolicy,
  gradient: Float64Array,
  { learningRate, clipNorm = Infinity }: { learningRate: number; clipNorm?: number },
): number {
  const length = norm(gradient)
  const rate = learningRate * Math.min(1, clipNorm / Math.max(length, Number.MIN_VALUE))
  for (let i = 0; i < gradient.length; i++) policy.weights[i] -= rate * gradient[i]
  policy.changed()
  return length
}

/** Supervised learning: one pass over the demonstrations per step, by the mean cross-entropy of their tokens. */
export function fineTune(
  policy: PrefixPolicy,
  demonstrations: readonly Answer[],
  { steps, learningRate }: { steps: number; learningRate: number },
): void {
  const examples = demonstrations.map((answer): Example => ({ answer, imitation: 1 }))
  for (let step = 0; step < steps; step++)
    descend(policy, lossGradient(policy, examples, plainRule).gradient, { learningRate })
}

/** REINFORCE over whole answers, each against the mean of the others of its group. */
export const plainRule = {
  advantage: { name: 'rloo' },
  loss: { name: 'importance-sampling' },
  aggregation: { mode: 'constant', length: 1 },
} as const satisfies LearningRule

function describe(groups: readonly (readonly Answer[])[]): StepMeasures {
  const all = groups.flat()
  const lengths = all.map(({ tokens }) => tokens.length)
  const length = average(lengths)
  let surprise = 0
  for (const { logprobs } of all) for (const logprob of logprobs) surprise -= logprob
  return {
    reward: average(all.map(({ reward }) => reward)),
    score: average(all.map(({ score }) => score)),
    rewardDensity: average(all.map(({ reward }) => Number(reward !== 0))),
    zeroVariance: average(groups.map((group) => Number(uniform(group)))),
    truncated: average(all.map(({ truncated }) => Number(truncated))),
    length,
    lengthVariance: average(lengths.map((each) => (each - length) ** 2)),
    entropy: surprise / (length * all.length),
    clipFraction: 0,
    gradientNorm: 0,
    lowestRatio: Infinity,
    highestRatio: 0,
    cosine: 0,
  }
}

function meanMeasures(all: readonly StepMeasures[]): StepMeasures {
  const names = Object.keys(describe([])) as (keyof StepMeasures)[]
  const means = names.map((name) => [name, average(all.map((each) => each[name]))] as const)
  return Object.fromEntries(means) as unknown as StepMeasures
}
