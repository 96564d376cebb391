import {
  applyUpdate,
  findPolicyPreset,
  forwardBackward,
  optimisePolicy,
  type Algorithm,
  type CustomLossReport,
  type EpisodeGroup,
  type PolicySettings,
  type ScoredSequence,
  type TrainingSequence,
} from 'agoge/llm'
import { createRandom, type Random } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { copyWeights, createTextModel, restoreWeights, type TextModel } from './text-model.ts'
import { episodeOf, sampleTiny, type SampleSettings, type TinyAnswer } from './sample.ts'
import type { TinyQuestion, TinyTask, TrainingJudge } from './tasks.ts'

/** What a batch showed, for manipulation checks. */
export interface TinyStep {
  /** From 0. */
  step: number
  groups: readonly (readonly TinyAnswer[])[]
  /** Mean reward. */
  reward: number
  /** Share of answers with a reward above 0: reward density. */
  rewarded: number
  /** Share of groups whose rewards are all equal. */
  zeroVariance: number
  /** Share of answers that reached the limit of tokens. */
  truncated: number
  /** Mean and variance of the tokens of an answer. */
  length: number
  lengthVariance: number
  /** Nats per token, estimated from the sampled tokens. */
  entropy: number
  /** Means over the optimiser steps of the batch; 0 if none had a gradient. */
  clipFraction: number
  /** k3 estimate of the divergence of the trained policy from the sampler, nats per token. */
  kl: number
  optimiserSteps: number
}

export interface TrainSettings {
  /** A preset of `agoge train --algorithm`, settings of policy optimisation, or any algorithm. Default: `dr-grpo`. */
  algorithm?: string | PolicySettings | Algorithm
  learningRate: number
  seed: number
  /** Batches. Default: 50. */
  steps?: number
  /** Questions per batch. Default: 8. */
  batch?: number
  /** Answers per question. Default: 8. */
  groupSize?: number
  /** Passes over a batch. Default: 2. */
  epochs?: number
  /** Updates per pass. Each has its share of the groups. Default: 2. */
  minibatches?: number
  /** Default: 1. */
  temperature?: number
  /** Clip of the gradient norm. Default: 1. */
  clip?: number
  /** Rewards answers in training. Default: the true judge. */
  judge?: TrainingJudge
  /** Questions of a batch. Default: training questions of all depths. */
  questions?: (random: Random, step: number) => readonly TinyQuestion[]
  /** Replaces the sampling of answers. Each group is of one question. */
  sample?: (
    questions: readonly TinyQuestion[],
    settings: SampleSettings,
    step: number,
  ) => Promise<TinyAnswer[][]>
  /** Rows added to every update of a batch, such as demonstrations; see `taughtSequence`. */
  extra?: (step: number, groups: readonly (readonly TinyAnswer[])[]) => readonly TrainingSequence[]
  /** The learning rate of a batch. Default: constant. */
  schedule?: (step: number) => number
  onStep?: (step: TinyStep) => void
}

/**
 * Reinforcement learning of a small model by an algorithm of the library, with several optimiser steps a batch. The
 * same seed gives the same weights.
 *
 * @returns the measures of every batch, without the answers.
 */
export async function trainTiny(
  model: TextModel,
  task: TinyTask,
  settings: TrainSettings,
): Promise<Omit<TinyStep, 'groups'>[]> {
  const { steps = 50, batch = 8, groupSize = 8, temperature = 1, seed, judge } = settings
  const { questions = (random: Random) => Array.from({ length: batch }, () => task.draw(random)) } = settings
  const { sample = (asked, given) => sampleTiny(model, task, asked, given) } = settings
  const learn = createUpdates(model, task, settings)
  const measured: Omit<TinyStep, 'groups'>[] = []
  try {
    for (let step = 0; step < steps; step++) {
      const asked = questions(createRandom(seed, 'tiny-questions', step), step)
      const given = { name: `train/${step}`, seed, groupSize, temperature, ...(judge && { judge }) }
      const groups = await sample(asked, given, step)
      const reports = await learn.update(groups, step)
      const { groups: answers, ...rest } = stepOf(step, groups, reports)
      measured.push(rest)
      settings.onStep?.({ ...rest, groups: answers })
    }
  } finally {
    await learn.dispose()
  }
  return measured
}

/** The optimiser steps of a batch. */
function createUpdates(model: TextModel, task: TinyTask, settings: TrainSettings) {
  const { backend } = model
  const {
    epochs = 2,
    minibatches = 2,
    clip = 1,
    learningRate,
    extra,
    schedule = () => learningRate,
  } = settings
  const algorithm = algorithmOf(settings.algorithm)
  const memory: Record<string, number> = {}
  const start = copyWeights(model)
  let reference: TextModel | undefined
  const startModel = (): TextModel => (reference ??= copyOf(model, start))
  const context = {
    demonstrations: [],
    memory,
    tokenLimit: task.maxTokens,
    reference: (rows: readonly ScoredSequence[]) => rowLogprobs(startModel(), rows),
    trainer: (rows: readonly ScoredSequence[]) => rowLogprobs(model, rows),
  }
  return {
    async update(groups: readonly (readonly TinyAnswer[])[], step: number): Promise<CustomLossReport[]> {
      const reports: CustomLossReport[] = []
      const all = groups.map((group, g) => groupOf(group, `${step}/${g}`))
      const share = Math.ceil(all.length / minibatches)
      const added = [...(extra?.(step, groups) ?? [])]
      for (let epoch = 0; epoch < epochs; epoch++)
        for (let at = 0; at < all.length; at += share) {
          const update = await algorithm(all.slice(at, at + share), { ...context, batch: all })
          if (update.sequences.length + added.length === 0) continue
          // A gradient of its own, since a loss of an algorithm may know its own rows only.
          if (added.length > 0) await forwardBackward(backend, added, { name: 'cross_entropy' })
          const optimStep = { learningRate: schedule(step), clip }
          if (update.sequences.length > 0) reports.push(await applyUpdate(backend, update, optimStep))
          else await backend.optimStep(optimStep)
        }
      return reports
    },
    dispose: async () => reference?.backend.dispose(),
  }
}

function algorithmOf(given: TrainSettings['algorithm'] = 'dr-grpo'): Algorithm {
  if (typeof given === 'function') return given
  return optimisePolicy(typeof given === 'string' ? findPolicyPreset(given).settings : given)
}

/** The answers to one question as a group that algorithms of the library learn from. */
export const groupOf = (answers: readonly TinyAnswer[], id: string): EpisodeGroup => ({
  episodes: answers.map((answer, i) => episodeOf(answer, `${id}/${i}`)),
  rewards: answers.map(({ reward }) => reward),
})

/** Log-probabilities of rows at their temperatures. */
const rowLogprobs = ({ backend }: TextModel, rows: readonly ScoredSequence[]): Promise<Float32Array[]> =>
  backend.forward(
    rows.map(({ tokens }) => tokens),
    { temperatures: rows.map(({ temperatures }) => temperatures) },
  )

/** Another model of the same architecture with these weights. */
export function copyOf(model: TextModel, weights: Float32Array): TextModel {
  const {
    hidden_size: width,
    num_hidden_layers: layers,
    max_position_embeddings: window,
  } = model.backend.config
  const copy = createTextModel({ alphabet: alphabetOf(model), seed: 0, width, layers, window })
  restoreWeights(copy, weights)
  return copy
}

function alphabetOf({ symbols }: TextModel): string {
  return Array.from({ length: symbols.size - 1 }, (_, i) => symbols.decode([i + 1])).join('')
}

function stepOf(
  step: number,
  groups: readonly (readonly TinyAnswer[])[],
  reports: readonly CustomLossReport[],
): TinyStep {
  const answers = groups.flat()
  const lengths = answers.map(({ turns }) => turns.reduce((sum, { tokens }) => sum + tokens.length, 0))
  const length = average(lengths)
  const surprise = answers.flatMap(({ turns }) =>
    turns.flatMap(({ logprobs }) => Array.from(logprobs, (v) => -v)),
  )
  const mean = (values: readonly number[]): number => (values.length === 0 ? 0 : average(values))
  return {
    step,
    groups,
    reward: average(answers.map(({ reward }) => reward)),
    rewarded: average(answers.map(({ reward }) => Number(reward > 0))),
    zeroVariance: average(
      groups.map((group) => Number(group.every(({ reward }) => reward === group[0].reward))),
    ),
    truncated: average(answers.map(({ cut }) => Number(cut))),
    length,
    lengthVariance: average(lengths.map((each) => (each - length) ** 2)),
    entropy: average(surprise),
    clipFraction: mean(reports.map(({ clipFraction }) => clipFraction)),
    kl: mean(reports.map(({ kl }) => kl)),
    optimiserSteps: reports.length,
  }
}
