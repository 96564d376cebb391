import { expect, test } from 'vitest'
import { runEpisodes } from '../agent/turn-loop.ts'
import {
  createKeysActor,
  createKeysEnvironment,
  keysBackend,
  keysLimits,
  keysModel,
  keysSpecs,
} from '../agent/testing/keys.ts'
import type { EpisodeGroup } from '../algorithm/types.ts'
import { createScalarModel } from '../backend/scalar-model.ts'
import type { ScalarModel } from '../backend/scalar-model.ts'
import type { LocalBackend } from '../backend/local-backend.ts'
import type { ModelBackend } from '../model-backend.ts'
import { answerSequence, sampleAnswers } from '../rollout/sample-answers.ts'
import { trainArcher } from './critic/archer.ts'
import { trainProgressModel } from './critic/progress.ts'
import { trainTokenPpo } from './critic/token-ppo.ts'
import { expertIteration } from './distillation/expert-iteration.ts'
import { distil, episodeRows } from './distillation/on-policy.ts'
import { judgedPairs, trainOnline } from './preference/online.ts'
import { dpo, simpo } from './preference/methods.ts'
import { trainProcessReward, trainRewardModel } from './preference/reward-model.ts'
import {
  end,
  likedPairs,
  liking,
  promptOf,
  tinyBackend,
  tinyModel,
} from './preference/testing/liked-tokens.ts'
import { trainPreferences } from './preference/train-preferences.ts'
import type { RunOptions } from './run.ts'
import { boxJob } from './testing/box-job.ts'
import { interrupt } from './testing/exact-resume.ts'
import type { TrainToWeights } from './testing/exact-resume.ts'

type Trained = ScalarModel | LocalBackend

/** Trains new models from `open` and returns their weights. */
const trains =
  <M extends readonly Trained[]>(
    open: () => M | Promise<M>,
    work: (models: M, run: RunOptions) => Promise<readonly unknown[]>,
    curve = 5,
  ): TrainToWeights =>
  async (run) => {
    const models = await open()
    const before = models.map(({ parameters }) => parameters.data.slice())
    // The curve of a resumed run is complete too.
    expect((await work(models, run)).length).toBe(curve)
    const weights = models.map(({ parameters }) => parameters.data.slice())
    for (const [i, after] of weights.entries()) expect(after).not.toEqual(before[i])
    await Promise.all(models.map((model) => model.dispose()))
    return weights
  }

const scalar = (seed: number): ScalarModel => createScalarModel({ config: tinyModel, seed, threads: 1 })
const keysScalar = (seed: number): ScalarModel => createScalarModel({ config: keysModel, seed, threads: 1 })
const optimiser = { learningRate: 0.01, warmup: 1, optimizer: 'muon', clip: 1 } as const
const common = { ...optimiser, steps: 5, seed: 1 }
const pairs = likedPairs(16, 1)
const validation = likedPairs(6, 2)
const given = { ...common, examples: pairs, validation, batch: 4, validateEvery: 2 }
const prompts = Array.from({ length: 4 }, (_, i) => promptOf(i))
const speak = (model: ModelBackend, name: string) =>
  sampleAnswers(model, prompts, { name, groupSize: 2, maxTokens: 4, stop: [end], seed: 1 })

const environment = createKeysEnvironment({ rewarded: false, tells: false, succeeds: ([first]) => first })
async function play(policy: ModelBackend, name: string): Promise<EpisodeGroup[]> {
  const specs = keysSpecs(name, 6)
  const episodes = await runEpisodes(specs, createKeysActor(policy, 5), environment, keysLimits(2))
  return [{ episodes, rewards: episodes.map(({ success }) => Number(success)) }]
}

const labelled = pairs.map(({ prompt, chosen }) => ({
  prompt,
  tokens: chosen,
  ends: [0, chosen.length - 1],
  labels: [chosen[0] % 2, 1],
}))

const trainers: Record<string, TrainToWeights> = {
  'DPO, held against the model that it began with': trains(
    () => [tinyBackend(1)],
    async ([backend], run) => (await trainPreferences({ backend, method: dpo(), ...given, ...run })).steps,
  ),
  'online preferences': trains(
    () => [tinyBackend(1)],
    ([backend], run) =>
      trainOnline({
        backend,
        method: simpo(),
        ...common,
        ...run,
        collect: (step) =>
          judgedPairs(backend, prompts, {
            name: `online/${step}`,
            score: (answers) => answers.map(({ prompt, tokens }) => liking(prompt, tokens)),
            maxTokens: 4,
            stop: [end],
            seed: 1,
          }),
      }),
  ),
  'a reward model': trains(
    () => [scalar(1)],
    async ([model], run) => (await trainRewardModel({ model, ...given, ...run })).steps,
  ),
  'a process reward model': trains(
    () => [scalar(1)],
    async ([model], run) =>
      (await trainProcessReward({ model, ...given, examples: labelled, validation: labelled, ...run })).steps,
  ),
  'on-policy distillation': trains(
    () => [tinyBackend(1)],
    async ([student], run) => {
      const teacher = tinyBackend(9)
      const collect = async (step: number) =>
        (await speak(student, `distil/${step}`)).flat().map(answerSequence)
      const steps = await distil({ student, teacher, ...common, ...run, collect })
      await teacher.dispose()
      return steps
    },
  ),
  'distillation in an environment': trains(
    async () => [(await boxJob('').backend()) as LocalBackend],
    async ([student], run) => {
      const teacher = (await boxJob('').backend()) as LocalBackend
      teacher.parameters.data.forEach((value, i) => (teacher.parameters.data[i] = 2 * value))
      const { tokenizer, environment: boxes, tasks, plan } = boxJob('')
      const play = {
        tokenizer,
        environment: boxes,
        tasks,
        groups: 3,
        limits: plan.limits,
        maxTokensPerTurn: 8,
      }
      const collect = episodeRows({ backend: student, ...play })
      const steps = await distil({ student, teacher, ...common, ...run, collect })
      await teacher.dispose()
      return steps
    },
  ),
  'expert iteration': trains(
    async () => {
      const backend = await boxJob('').backend()
      return [backend as LocalBackend]
    },
    ([backend], run) => {
      const { tokenizer, environment: boxes, tasks, plan } = boxJob('')
      return expertIteration({
        backend,
        tokenizer,
        environment: boxes,
        tasks,
        ...optimiser,
        ...run,
        rounds: 4,
        groups: 3,
        groupSize: 2,
        // So that there is an episode to select.
        reward: () => 1,
        batch: 2,
        limits: plan.limits,
        maxTokensPerTurn: 8,
        seed: 1,
      })
    },
    4,
  ),
  'ArCHer, with its targets and old episodes': trains(
    () => [keysBackend(1), keysScalar(11), keysScalar(12)] as const,
    ([policy, ...critics], run) =>
      trainArcher({ policy, critics, ...common, ...run, collect: (step) => play(policy, `archer/${step}`) }),
  ),
  'PPO with a critic over tokens': trains(
    () => [tinyBackend(1), scalar(2)] as const,
    ([policy, critic], run) =>
      trainTokenPpo({
        policy,
        critic,
        ...common,
        ...run,
        async collect(step) {
          const answers = (await speak(policy, `ppo/${step}`)).flat()
          return answers.map((answer) => ({
            sequence: answerSequence(answer),
            reward: liking(answer.prompt, answer.tokens),
          }))
        },
      }),
  ),
  'an estimator of progress': trains(
    () => [keysScalar(2)],
    async ([model], run) => {
      const policy = keysBackend(1)
      const groups = [...(await play(policy, 'a')), ...(await play(policy, 'b'))]
      await policy.dispose()
      return trainProgressModel({ model, groups, batch: 5, ...common, ...run })
    },
  ),
}

test.each(Object.entries(trainers))(
  '%s: killed and resumed, it ends with the same weights',
  async (_, train) => {
    const { whole, ...others } = await interrupt(train, 3)
    expect(others).toEqual({ resumed: whole, reopened: whole, inMemory: whole })
  },
)
