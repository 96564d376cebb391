import { optimisePolicy } from '../../algorithm/policy-optimisation/optimise-policy.ts'
import type { EpisodeGroup } from '../../algorithm/types.ts'
import { AgogeError } from '../../../error.ts'
import { average } from '../../../statistics/statistics.ts'
import type { ModelBackend } from '../../model-backend.ts'
import type { ScalarModel } from '../../backend/scalar-model.ts'
import { createRandom } from '../../../engine/random/index.ts'
import type { OptimiserSettings } from '../kernel.ts'
import { runTraining, settingsOf, stepsOf, validationOf } from '../run.ts'
import type { RunOptions, ValidationOptions } from '../run.ts'
import { bySample, createUtteranceCritic, spoken, type SpokenEpisode } from './utterance-critic.ts'

export interface ArcherOptions extends OptimiserSettings, RunOptions, ValidationOptions {
  policy: ModelBackend
  /**
   * Two separate transformers (`createScalarModel` with different seeds, or with the policy's weights). Their output at the last
   * token of an utterance is Q; their output at the token before the utterance is V.
   */
  critics: readonly [ScalarModel, ScalarModel]
  /** Optimiser of the critics. Default: that of the policy. */
  criticOptimiser?: OptimiserSettings
  steps: number
  /** Plays episodes (`rolloutGroups`, `rolloutAgent`, ...) and scores them. Groups may have one member. */
  collect: (step: number) => Promise<readonly EpisodeGroup[]>
  /** Discount per utterance. Default: 0.9. */
  gamma?: number
  /** Rate at which the target weights follow the critics. Default: 0.1. */
  targetRate?: number
  /** Critic steps per batch. Default: 3. */
  criticEpochs?: number
  /** Initial steps in which only the critics learn. Default: 0. */
  criticWarmup?: number
  /** Size of the replay buffer in episodes. Each critic step draws as many old episodes as the batch has. Default: 512. */
  memory?: number
  /** Seed of the draws from the replay buffer. Default: 0. */
  seed?: number
  onStep?: (step: ArcherStep) => void
}

export interface ArcherStep {
  /** Starts at 1. */
  step: number
  /** Mean reward of the episodes. */
  reward: number
  /** Half the mean squared error of Q at the last critic step, against the targets of that step. */
  criticLoss: number
  /** Mean absolute advantage. */
  advantage: number
  /** 0 during the warm-up. */
  gradientNorm: number | undefined
  learningRate: number
}

/**
 * ArCHer: a critic over utterances learns their values by temporal differences, from old episodes too. The policy over tokens
 * learns by REINFORCE; every token gets the advantage of its utterance. So an early utterance learns from a reward many turns
 * later.
 *
 * Source: ArCHer (arXiv 2402.19446), with its discount, target rate and critic steps. The paper trains V and the policy on new
 * utterances sampled in old states. Here both use the newest episodes, which needs no further samples.
 *
 * @throws AgogeError `no-samples` if a batch has no judged episode with an utterance.
 */
export async function trainArcher(options: ArcherOptions): Promise<ArcherStep[]> {
  const { policy, critics, steps, collect, signal, criticOptimiser = options, criticWarmup = 0 } = options
  const { gamma = 0.9, targetRate = 0.1, criticEpochs = 3, memory = 512, seed = 0 } = options
  const abort = signal === undefined ? {} : { signal }
  const critic = createUtteranceCritic(critics, { gamma, targetRate, ...abort })
  let old: SpokenEpisode[] = []
  const { records } = await runTraining<readonly EpisodeGroup[]>(
    {
      name: 'archer',
      steps,
      collect,
      async update(groups, tools) {
        const fresh = groups.flatMap(({ episodes, rewards }) =>
          episodes.flatMap((episode, m) => spoken(episode, rewards[m]) ?? []),
        )
        if (fresh.length === 0) throw nothingSaid(tools.step, groups)
        let criticLoss = 0
        for (let epoch = 0; epoch < criticEpochs; epoch++) {
          const drawn = createRandom(seed, 'archer', tools.step, epoch).shuffle(old).slice(0, fresh.length)
          criticLoss = await critic.learn(fresh, drawn, (model) =>
            tools.move(model, tools.schedule(criticOptimiser)),
          )
        }
        old = [...fresh, ...old].slice(0, memory)
        const advantages = await critic.advantages(fresh)
        const optimStep = tools.schedule(options)
        const update = await archerUpdate(groups, fresh, advantages)
        const acts = tools.step >= criticWarmup && update.sequences.length > 0
        const metrics = {
          reward: average(groups.flatMap(({ rewards }) => rewards.filter((reward) => reward !== null))),
          criticLoss,
          advantage: average(advantages.flatMap((values) => Array.from(values, Math.abs))),
          gradientNorm: acts ? (await tools.apply(policy, update, optimStep)).gradientNorm : 0,
          learningRate: optimStep.learningRate,
        }
        options.onStep?.({ step: tools.step + 1, ...metrics })
        return metrics
      },
      validation: validationOf(options),
      exportState: () => ({ targets: critic.exportState(), old }),
      importState(state) {
        const { targets, old: kept } = state as { targets: Float32Array[]; old: SpokenEpisode[] }
        critic.importState(targets)
        old = kept
      },
    },
    {
      ...options,
      models: { policy, 'critic-1': critics[0], 'critic-2': critics[1] },
      settings: settingsOf(options),
    },
  )
  return stepsOf<ArcherStep>(records, 'archer')
}

/** Sum over the tokens of an episode, mean over episodes. Each token has the advantage of its utterance. */
export function archerUpdate(
  groups: readonly EpisodeGroup[],
  fresh: readonly SpokenEpisode[],
  advantages: readonly Float32Array[],
) {
  const known = new Map(fresh.map(({ episode }, i) => [episode, bySample(episode, advantages[i])]))
  const algorithm = optimisePolicy({
    advantage: () => ({
      turnAdvantages: groups.map(({ episodes }) => episodes.map((episode) => known.get(episode) ?? 0)),
    }),
    loss: { name: 'importance-sampling' },
    aggregation: { mode: 'constant', length: 1 },
  })
  const unasked = () => Promise.reject(new Error('REINFORCE asks for no other policy'))
  return algorithm(groups, { reference: unasked, trainer: unasked, demonstrations: [] })
}

function nothingSaid(step: number, groups: readonly EpisodeGroup[]): AgogeError {
  return new AgogeError('No output of the policy could be judged', {
    code: 'no-samples',
    given: { step, episodes: groups.reduce((sum, { episodes }) => sum + episodes.length, 0) },
    expected: 'at least one episode with a reward and tokens that the policy chose',
  })
}
