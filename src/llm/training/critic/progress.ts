import { stepProgressLoss, stepProgressRewards } from '../../algorithm/advantages/critics.ts'
import { turnReturnAdvantages } from '../../algorithm/advantages/turns.ts'
import type { AdvantageFunction } from '../../algorithm/types.ts'
import type { EpisodeGroup } from '../../algorithm/types.ts'
import type { GrpoAdvantageSettings } from '../../algorithm/advantages/grpo.ts'
import type { Episode } from '../../episode/types.ts'
import type { ScalarModel } from '../../backend/scalar-model.ts'
import { createRandom } from '../../../engine/random/index.ts'
import type { OptimiserSettings } from '../kernel.ts'
import { hashOf, runTraining, settingsOf, stepsOf, validationOf } from '../run.ts'
import type { RunOptions, ValidationOptions } from '../run.ts'
import { bySample, rowsOf, spoken, type SpokenEpisode } from './utterance-critic.ts'

export interface ProgressModelOptions extends OptimiserSettings, RunOptions, ValidationOptions {
  /** Estimates the contribution of each utterance at its last token. `createScalarModel` with the policy's weights starts at 0. */
  model: ScalarModel
  /** Recorded episodes with rewards. Masked ones are left out. */
  groups: readonly EpisodeGroup[]
  steps: number
  /** Episodes per step. Default: 32. */
  batch?: number
  /** Seed of the episodes' order. Default: 0. */
  seed?: number
}

/**
 * Trains an estimator of progress: the estimates for an episode's utterances should add up to the episode's reward.
 *
 * Source: SPA-RL (arXiv 2505.20732), first stage.
 *
 * @returns the loss of each step: `(sum of contributions - reward)^2`, averaged over its episodes.
 */
export async function trainProgressModel(options: ProgressModelOptions): Promise<number[]> {
  const { model, groups, steps, batch = 32, seed = 0, signal } = options
  const abort = signal === undefined ? {} : { signal }
  const all = groups.flatMap(({ episodes, rewards }) =>
    episodes.flatMap((episode, m) => {
      const said = spoken(episode, rewards[m])
      return said === null ? [] : [{ said, outcome: rewards[m]! }]
    }),
  )
  const epochSteps = Math.max(1, Math.ceil(all.length / batch))
  const { records } = await runTraining<typeof all>(
    {
      name: 'progress-model',
      steps: all.length === 0 ? 0 : steps,
      collect(step) {
        const began = Math.floor(step / epochSteps) * epochSteps
        const order = createRandom(seed, 'progress', began).shuffle(all)
        return order.slice((step - began) * batch, (step - began + 1) * batch)
      },
      async update(taken, tools) {
        const episodes = taken.map(({ said }) => said)
        const { rows, starts } = rowsOf(episodes)
        const { value, gradient } = stepProgressLoss(
          await contributions(model, episodes, abort),
          taken.map(({ outcome }) => outcome),
        )
        const gradients = rows.map(({ length }) => new Float32Array(length))
        episodes.forEach(({ steps: said }, e) =>
          said.forEach(({ row, last }, k) => (gradients[starts[e] + row][last] = gradient[e][k])),
        )
        await model.backward(rows, gradients, abort)
        return { loss: value, ...(await tools.move(model, tools.schedule(options))) }
      },
      validation: validationOf(options),
    },
    {
      ...options,
      models: { model },
      settings: {
        ...settingsOf(options),
        episodes: hashOf(all.map(({ said, outcome }) => [said.rows, outcome])),
      },
    },
  )
  return stepsOf<{ step: number; loss: number }>(records, 'progress-model').map(({ loss }) => loss)
}

/**
 * Step-progress attribution, for `optimisePolicy({ advantage: progressAdvantage(...) })`. The reward of a turn is its estimated
 * contribution, plus `beta` if its call could be executed. The advantage compares a turn's return with the same turn of the
 * other group members. The estimator already contains the episode's reward. It is not trained further.
 *
 * Source: SPA-RL (arXiv 2505.20732), which uses PPO with a critic instead of the comparison.
 */
export function progressAdvantage(
  options: GrpoAdvantageSettings & { model: ScalarModel; alpha?: number; beta?: number; gamma?: number },
): AdvantageFunction {
  return async (groups) => {
    const said = groups.map(({ episodes, rewards }) =>
      episodes.map((episode, m) => spoken(episode, rewards[m])),
    )
    const judged = said.flat().filter((one) => one !== null)
    const known = new Map(judged.map((one) => [one, null as number[] | null]))
    const values = await contributions(options.model, judged, {})
    judged.forEach((one, i) =>
      known.set(one, Array.from(stepProgressRewards(values[i], grounding(one.episode), options))),
    )
    const turnAdvantages = said.map((members) => {
      const advantages = turnReturnAdvantages(
        members.map((one) => (one === null ? null : { turns: known.get(one)!, outcome: 0 })),
        options,
      )
      return members.map((one, m) => (one === null ? 0 : bySample(one.episode, advantages[m])))
    })
    return { turnAdvantages }
  }
}

/** For each utterance of the policy: 1 if its call could be executed. */
function grounding({ samples, nodes }: Episode): number[] {
  return samples.flatMap(({ trainable, mask, output }) =>
    trainable && mask.includes(1) ? [Number(nodes[output].invalid === undefined)] : [],
  )
}

async function contributions(
  model: ScalarModel,
  episodes: readonly SpokenEpisode[],
  options: { signal?: AbortSignal },
): Promise<number[][]> {
  const { rows, starts } = rowsOf(episodes)
  const values = await model.values(rows, options)
  return episodes.map(({ steps }, e) => steps.map(({ row, last }) => values[starts[e] + row][last]))
}
