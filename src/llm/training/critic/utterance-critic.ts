import { archerAdvantages, archerTargets, valueLoss } from '../../algorithm/advantages/critics.ts'
import type { ScalarModel } from '../../backend/scalar-model.ts'
import type { Episode } from '../../episode/types.ts'
import { turnRewards, utteranceRows } from '../../episode/training-sequences.ts'

/** An episode as a critic over utterances sees it: rows of tokens, with the positions of the policy's utterances. */
export interface SpokenEpisode {
  episode: Episode
  rows: Int32Array[]
  /** In chronological order. */
  steps: SpokenStep[]
}

interface SpokenStep {
  /** Its row, the position of the token before it, and the position of its last token. */
  row: number
  before: number
  last: number
  /** Reward from the environment. The last utterance also gets the reward of the episode. */
  reward: number
}

/** Judged episodes with their utterances. `null` for masked ones and those without an utterance. */
export function spoken(episode: Episode, reward: number | null): SpokenEpisode | null {
  const turns = reward === null ? null : turnRewards(episode)
  if (turns === null) return null
  const found = utteranceRows(episode)
  const steps = found
    .flatMap(({ utterances }, row) => utterances.map((utterance) => ({ ...utterance, row })))
    .sort((a, b) => a.turn - b.turn)
    .map(({ turn, row, before, last }) => ({ row, before, last, reward: turns[turn] }))
  if (steps.length === 0) return null
  steps[steps.length - 1].reward += reward!
  return { episode, rows: found.map(({ tokens }) => tokens), steps }
}

/** Spreads one number per step over the episode's samples. Samples that are not the policy's get 0. */
export function bySample({ samples }: Episode, steps: ArrayLike<number>): number[] {
  let at = 0
  return samples.map(({ trainable, mask }) => (trainable && mask.includes(1) ? steps[at++] : 0))
}

/** The rows of several episodes in one list, with the index of each episode's first row. */
export function rowsOf(episodes: readonly SpokenEpisode[]): { rows: Int32Array[]; starts: number[] } {
  const starts: number[] = []
  const rows: Int32Array[] = []
  for (const episode of episodes) {
    starts.push(rows.length)
    rows.push(...episode.rows)
  }
  return { rows, starts }
}

/** Two independent critics, for the values of utterances and of the states before them. */
export interface UtteranceCritic {
  /**
   * One learning step. Moves Q of all utterances towards `r + gamma V'(next state)`. Moves V of the states in `fresh` episodes
   * towards Q' of their utterances, which are samples of the policy only while the episodes are new. Then the target weights (')
   * follow.
   *
   * @returns half the mean squared error of Q, averaged over both critics.
   */
  learn(
    fresh: readonly SpokenEpisode[],
    replayed: readonly SpokenEpisode[],
    /** Makes one optimiser step. */
    move: (critic: ScalarModel) => Promise<unknown>,
  ): Promise<number>
  /** `min(Q1, Q2) - min(V1, V2)` for each utterance of each episode. */
  advantages(episodes: readonly SpokenEpisode[]): Promise<Float32Array[]>
  /** The target weights. */
  exportState(): Float32Array[]
  importState(targets: readonly Float32Array[]): void
}

/** An `UtteranceCritic` of two models. Each target is a copy of its critic's weights, which the critic loads to evaluate it. */
export function createUtteranceCritic(
  critics: readonly [ScalarModel, ScalarModel],
  settings: { gamma: number; targetRate: number; signal?: AbortSignal },
): UtteranceCritic {
  const { gamma, targetRate, signal } = settings
  const abort = signal === undefined ? {} : { signal }
  const targets = critics.map((critic) => critic.parameters.data.slice())

  /** The critic's values with its target weights. */
  async function targetValues(critic: ScalarModel, target: Float32Array, rows: Int32Array[]) {
    const { data } = critic.parameters
    const own = data.slice()
    data.set(target)
    try {
      return await critic.values(rows, abort)
    } finally {
      data.set(own)
    }
  }

  async function learnOne(
    critic: ScalarModel,
    target: Float32Array,
    episodes: readonly SpokenEpisode[],
    fresh: number,
    move: (critic: ScalarModel) => Promise<unknown>,
  ): Promise<number> {
    const { rows, starts } = rowsOf(episodes)
    const now = await critic.values(rows, abort)
    const later = await targetValues(critic, target, rows)
    const gradients = rows.map(({ length }) => new Float32Array(length))
    const pull = (steps: readonly PlacedStep[], at: 'before' | 'last', returns: ArrayLike<number>) => {
      const { value, gradient } = valueLoss({
        values: steps.map((one) => now[one.row][one[at]]),
        returns,
        weights: new Float32Array(steps.length).fill(1 / steps.length),
      })
      steps.forEach((one, i) => (gradients[one.row][one[at]] += gradient[i]))
      return value
    }
    const steps = episodes.flatMap(({ steps }, e) => placedSteps(steps, starts[e], e))
    const loss = pull(
      steps,
      'last',
      archerTargets(
        {
          rewards: steps.map(({ reward }) => reward),
          nextValues: steps.map(({ next }) => (next === undefined ? 0 : later[next.row][next.before])),
          terminated: steps.map(({ next }) => next === undefined),
        },
        { gamma },
      ),
    )
    const young = steps.filter(({ episode }) => episode < fresh)
    pull(
      young,
      'before',
      young.map(({ row, last }) => later[row][last]),
    )
    await critic.backward(rows, gradients, abort)
    await move(critic)
    const { data } = critic.parameters
    for (let i = 0; i < data.length; i++) target[i] += targetRate * (data[i] - target[i])
    return loss
  }

  return {
    exportState: () => targets.map((target) => target.slice()),
    importState: (kept) => targets.forEach((target, i) => target.set(kept[i])),
    async learn(fresh, replayed, move) {
      const episodes = [...fresh, ...replayed]
      let loss = 0
      for (const [i, critic] of critics.entries())
        loss += (await learnOne(critic, targets[i], episodes, fresh.length, move)) / critics.length
      return loss
    },
    async advantages(episodes) {
      const { rows, starts } = rowsOf(episodes)
      const [first, second] = [await critics[0].values(rows, abort), await critics[1].values(rows, abort)]
      return episodes.map(({ steps }, e) => {
        const placed = placedSteps(steps, starts[e], e)
        const of = (values: Float32Array[], at: 'before' | 'last') =>
          placed.map((one) => values[one.row][one[at]])
        const [v1, v2] = [of(first, 'before'), of(second, 'before')]
        return archerAdvantages({
          q1: of(first, 'last'),
          q2: of(second, 'last'),
          values: v1.map((value, k) => Math.min(value, v2[k])),
        })
      })
    },
  }
}

interface PlacedStep extends SpokenStep {
  episode: number
  next: SpokenStep | undefined
}

/** The steps of all episodes, by row, each with its next step. */
function placedSteps(steps: readonly SpokenStep[], start: number, episode: number): PlacedStep[] {
  const moved = steps.map((step) => ({ ...step, row: start + step.row, episode }))
  return moved.map((step, k) => ({ ...step, next: moved[k + 1] }))
}
