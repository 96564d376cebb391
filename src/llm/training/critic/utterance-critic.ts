import { archerAdvantages, archerTargets, valueLoss } from '../../algorithm/advantages/critics.ts'
import type { ScalarModel } from '../../backend/scalar-model.ts'
import type { Episode } from '../../episode/types.ts'
import { turnRewards, utteranceRows } from '../../episode/utterances.ts'

/** An episode as a critic over utterances sees it: rows of tokens, and what the policy said in them. */
export interface SpokenEpisode {
  episode: Episode
  rows: Int32Array[]
  /** In the order they were said. */
  steps: SpokenStep[]
}

interface SpokenStep {
  /** The row it stands in, the token before it and its last one. */
  row: number
  before: number
  last: number
  /** What the environment paid for it; the last one gets the reward of the episode too. */
  reward: number
}

/** Judged episodes with what they said; `null` for masked ones and those that said nothing. */
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

/** A number for each of an episode's samples from one for each of its steps; what the policy did not say itself gets 0. */
export function bySample({ samples }: Episode, steps: ArrayLike<number>): number[] {
  let at = 0
  return samples.map(({ trainable, mask }) => (trainable && mask.includes(1) ? steps[at++] : 0))
}

/** All rows of several episodes, with where those of each begin. */
export function rowsOf(episodes: readonly SpokenEpisode[]): { rows: Int32Array[]; starts: number[] } {
  const starts: number[] = []
  const rows: Int32Array[] = []
  for (const episode of episodes) {
    starts.push(rows.length)
    rows.push(...episode.rows)
  }
  return { rows, starts }
}

/** Values of utterances and of the states that they were said in, by two critics that do not see each other. */
export interface UtteranceCritic {
  /**
   * One step of learning: Q of all utterances towards `r + gamma V'(next state)`, V of the states of `fresh` episodes towards Q' of what
   * was said there, which is a draw of the policy only while it is young; then the targets (') follow.
   *
   * @returns half the mean squared error of Q, the mean of both critics.
   */
  learn(
    fresh: readonly SpokenEpisode[],
    replayed: readonly SpokenEpisode[],
    /** Makes one optimiser step. */
    move: (critic: ScalarModel) => Promise<unknown>,
  ): Promise<number>
  /** Of each utterance of each episode: `min(Q1, Q2) - min(V1, V2)`. */
  advantages(episodes: readonly SpokenEpisode[]): Promise<Float32Array[]>
  /** The weights of the targets. */
  exportState(): Float32Array[]
  importState(targets: readonly Float32Array[]): void
}

/** A target is a copy of weights, which its critic takes for the time of a question. */
export function createUtteranceCritic(
  critics: readonly [ScalarModel, ScalarModel],
  settings: { gamma: number; targetRate: number; signal?: AbortSignal },
): UtteranceCritic {
  const { gamma, targetRate, signal } = settings
  const abort = signal === undefined ? {} : { signal }
  const targets = critics.map((critic) => critic.parameters.data.slice())

  /** What the critic would say with the weights of its target. */
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

/** Steps by the rows of all episodes together, each with the one after it. */
function placedSteps(steps: readonly SpokenStep[], start: number, episode: number): PlacedStep[] {
  const moved = steps.map((step) => ({ ...step, row: start + step.row, episode }))
  return moved.map((step, k) => ({ ...step, next: moved[k + 1] }))
}
