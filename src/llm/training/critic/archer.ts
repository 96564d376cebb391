import { optimisePolicy } from '../../algorithm/policy-optimisation/optimise-policy.ts'
import type { EpisodeGroup } from '../../algorithm/types.ts'
import { AgogeError } from '../../../error.ts'
import { mean } from '../../../statistics/statistics.ts'
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
   * Two transformers of their own (`createScalarModel` with different seeds or the policy's weights). What each says at the end of an
   * utterance is its Q, what it says before one its V.
   */
  critics: readonly [ScalarModel, ScalarModel]
  /** How the critics learn; default: as the policy. */
  criticOptimiser?: OptimiserSettings
  steps: number
  /** Plays episodes (`rolloutGroups`, `rolloutAgent`, ...) and scores them; groups may have one member. */
  collect: (step: number) => Promise<readonly EpisodeGroup[]>
  /** Discount of an utterance. Default 0.9. */
  gamma?: number
  /** Share of the way that the targets go towards the critics after each of their steps. Default 0.1. */
  targetRate?: number
  /** Steps of the critics a batch. Default 3. */
  criticEpochs?: number
  /** Steps at the beginning in which the critics alone learn. Default 0. */
  criticWarmup?: number
  /** Older episodes kept; as many of them as a batch has are drawn for each step of the critics. Default 512. */
  memory?: number
  /** Of that draw. Default 0. */
  seed?: number
  onStep?: (step: ArcherStep) => void
}

export interface ArcherStep {
  /** From 1. */
  step: number
  /** Mean of the episodes' rewards. */
  reward: number
  /** Half the mean squared error of Q at the last step of the critics, against the targets of then. */
  criticLoss: number
  /** Mean size of the advantages. */
  advantage: number
  /** 0 in the warmup. */
  gradientNorm: number | undefined
  learningRate: number
}

/**
 * ArCHer: a critic over utterances learns by temporal differences what each is worth, from old episodes too; the policy over tokens is
 * paid the advantage of its utterance, every token of it the same, by REINFORCE. So an early utterance learns of a reward that comes
 * many turns later.
 *
 * Source: ArCHer (arXiv 2402.19446), with its discount, target rate and steps of the critic. There each V follows Q of utterances drawn anew
 * in old states and so does the policy; here both follow what the newest episodes said, which needs no further samples.
 *
 * @throws AgogeError `no-samples` where a batch has no episode that was judged and said something.
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
          reward: mean(groups.flatMap(({ rewards }) => rewards.filter((reward) => reward !== null))),
          criticLoss,
          advantage: mean(advantages.flatMap((values) => Array.from(values, Math.abs))),
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

/** The sum over the tokens of an episode, the mean over episodes; each token with the advantage of its utterance. */
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
  return new AgogeError('Nothing that the policy said could be judged', {
    code: 'no-samples',
    given: { step, episodes: groups.reduce((sum, { episodes }) => sum + episodes.length, 0) },
    expected: 'at least one episode with a reward and tokens that the policy chose',
  })
}
