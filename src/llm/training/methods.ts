import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createRandom } from '../../engine/random/index.ts'
import { AgogeError } from '../../error.ts'
import { decodeState, encodeState } from '../../runs/state-bytes.ts'
import { expertMembers } from '../algorithm/advantages/group.ts'
import { supervised } from '../algorithm/losses/imitation.ts'
import type {
  Algorithm,
  BatchSettings,
  EpisodeGroup,
  LearningContext,
  PolicyUpdate,
} from '../algorithm/types.ts'
import { createScalarModel } from '../backend/scalar-model.ts'
import type { ScalarModel } from '../backend/scalar-model.ts'
import type { Episode, TrainingSequence } from '../episode/types.ts'
import { toTrainingSequences } from '../episode/training-sequences.ts'
import type { ModelBackend } from '../model-backend.ts'
import type { TransformerConfig } from '../model/config.ts'
import type { Parameters } from '../model/parameters.ts'
import { archerUpdate } from './critic/archer.ts'
import { tokenAdvantages, explainedVariance, learnValues } from './critic/token-ppo.ts'
import type { JudgedRow } from './critic/token-ppo.ts'
import { createUtteranceCritic, spoken } from './critic/utterance-critic.ts'
import type { SpokenEpisode, UtteranceCritic } from './critic/utterance-critic.ts'
import { teachRows } from './distillation/on-policy.ts'
import { plainSequence, rowOf, sumOf } from './preference/answers.ts'
import type { PreferenceMethod, PreferencePair } from './preference/answers.ts'
import { dpo, ipo, orpo, simpo } from './preference/methods.ts'
import { episodePairs } from './preference/online.ts'
import { preferenceUpdate } from './preference/train-preferences.ts'
import { trainingMethods } from './method-list.ts'
import type { MethodDefinition, MethodName } from './method-list.ts'
import type { TrainableBackend } from './types.ts'

interface MethodContext {
  seed: number
  teacher?: Pick<ModelBackend, 'forward'>
}

interface OpenedMethod {
  algorithm: Algorithm
  /** Models trained beside the policy. Checkpoints include them. */
  companions?: Companions
}

interface Companions {
  /** Called with the policy being trained. */
  bind(policy: TrainableBackend): void
  save(folder: string): Promise<void>
  load(folder: string): Promise<void>
  dispose(): Promise<void>
}

const methods: Record<MethodName, (context: MethodContext) => OpenedMethod> = {
  'online-dpo': () => ({ algorithm: fromPairs(dpo()) }),
  'online-ipo': () => ({ algorithm: fromPairs(ipo()) }),
  'online-orpo': () => ({ algorithm: fromPairs(orpo()) }),
  'online-simpo': () => ({ algorithm: fromPairs(simpo()) }),
  'expert-iteration': () => ({ algorithm: cloneExperts }),
  distillation: ({ teacher }) => ({ algorithm: fromTeacher(teacher!) }),
  ppo: ({ seed }) => tokenCritic(createCritics(1, seed)),
  archer: ({ seed }) => turnCritic(createCritics(2, seed), seed),
}

/**
 * Opens a method. Returns its algorithm, and a backend whose checkpoints include the models trained beside the policy.
 *
 * @throws AgogeError `bad-config` if a method needs a teacher and has none, or if it trains a critic and the policy is not in
 *   this process.
 */
export function openMethod(
  name: MethodName,
  open: () => Promise<TrainableBackend>,
  { seed, teacher }: { seed: number; teacher?: Pick<ModelBackend, 'forward'> | undefined },
): { algorithm: Algorithm; batch?: BatchSettings | undefined; backend: () => Promise<TrainableBackend> } {
  const definition: MethodDefinition = trainingMethods[name]
  if (definition.needsTeacher === true && teacher === undefined)
    throw new AgogeError(`${name} needs a teacher`, {
      code: 'bad-config',
      given: 'none',
      expected: 'a model with the same tokenizer that does better',
      hint: `agoge train --algorithm ${name} --teacher RUN, or train({ algorithm: '${name}', teacher: FOLDER })`,
    })
  const { algorithm, companions } = methods[name]({ seed, ...(teacher && { teacher }) })
  let isFirst = true
  return {
    algorithm,
    batch: definition.batch,
    async backend() {
      const backend = await open()
      // Later backends are references and need only the policy.
      if (!isFirst || companions === undefined) return backend
      isFirst = false
      companions.bind(backend)
      return withCompanions(backend, companions)
    },
  }
}

function withCompanions(backend: TrainableBackend, companions: Companions): TrainableBackend {
  const own: Pick<TrainableBackend, 'save' | 'load' | 'dispose'> = {
    async save(folder) {
      await backend.save(folder)
      await companions.save(folder)
    },
    async load(folder) {
      await backend.load(folder)
      await companions.load(folder)
    },
    async dispose() {
      await companions.dispose()
      await backend.dispose?.()
    },
  }
  return Object.assign(Object.create(backend), own) as TrainableBackend
}

const nothing = (metrics: Record<string, number>): PolicyUpdate => ({
  sequences: [],
  loss: { name: 'cross_entropy' },
  metrics,
})

/** Online preferences: the best episode of each group against the worst, by reward. */
function fromPairs(method: PreferenceMethod<PreferencePair>): Algorithm {
  return async (groups, context) => {
    const pairs = groups.flatMap(({ episodes, rewards }) => episodePairs(episodes, rewards))
    if (pairs.length === 0) return nothing({ pairs: 0 })
    const answers = method.answers(pairs)
    const flat = answers.flat()
    const read = method.usesReference
      ? await context.reference(flat.map((answer) => plainSequence(rowOf(answer))))
      : undefined
    const sums = flat.map((answer, i) => (read === undefined ? 0 : sumOf(answer, read[i])))
    const each = answers[0].length
    const batch = pairs.map((example, i) => ({
      example,
      answers: answers[i],
      reference: sums.slice(i * each, (i + 1) * each),
    }))
    return { ...preferenceUpdate(method, batch), metrics: { pairs: pairs.length } }
  }
}

const cloneExperts: Algorithm = (groups) => {
  const rewards = groups.map(({ episodes, rewards }) =>
    rewards.map((reward, i) => (episodes[i].success === true ? reward : null)),
  )
  const kept = expertMembers(rewards, { threshold: -Infinity, best: 1 }).flatMap((members, g) =>
    members.map((member) => groups[g].episodes[member]),
  )
  if (kept.length === 0) return nothing({ kept: 0 })
  return { ...supervised(kept), metrics: { kept: kept.length } }
}

/** The rows of the judged episodes, each with its reward. */
function judgedRows(groups: readonly EpisodeGroup[]): JudgedRow[] {
  return groups.flatMap(({ episodes, rewards }) =>
    episodes.flatMap((episode, i) => {
      const reward = rewards[i]
      return reward === null ? [] : rowsOf(episode).map((sequence) => ({ sequence, reward }))
    }),
  )
}

const rowsOf = (episode: Episode): TrainingSequence[] =>
  toTrainingSequences(episode, () => ({ advantage: 0, weights: { rl: 1 } }))

function fromTeacher(teacher: Pick<ModelBackend, 'forward'>): Algorithm {
  return async (groups) => {
    // Includes episodes that could not be judged, but none that ended by an infrastructure fault.
    const rows = groups.flatMap(({ episodes }) => episodes.flatMap(rowsOf))
    const { rows: sequences, reverseKl } = await teachRows(teacher, rows)
    return { sequences, loss: { name: 'importance_sampling' }, metrics: { reverseKl } }
  }
}

/** Passes of a critic over tokens through a batch. */
const criticEpochs = 2

function tokenCritic(critics: Critics): OpenedMethod {
  return {
    companions: critics,
    async algorithm(groups, context) {
      const rows = judgedRows(groups)
      if (rows.length === 0) return nothing({})
      const [critic] = critics.models()
      const values = await critic.values(rows.map(({ sequence }) => sequence.tokens))
      const credited = tokenAdvantages(rows, values, {})
      let valueLoss = 0
      for (let epoch = 0; epoch < criticEpochs; epoch++) {
        const loss = await learnValues(critic, credited, {})
        if (epoch === 0) valueLoss = loss
        await moveOf(context)(critic)
      }
      return {
        sequences: credited.map(({ sequence }) => sequence),
        loss: { name: 'ppo', clipLow: 0.2, clipHigh: 0.2 },
        metrics: { valueLoss, explainedVariance: explainedVariance(credited) },
      }
    },
  }
}

/** As in the paper: discount, critic steps per batch, target rate. And the size of the replay buffer. */
const archer = { gamma: 0.9, targetRate: 0.1, epochs: 3, memory: 512 }

interface ArcherState {
  batches: number
  targets: Float32Array[]
  old: SpokenEpisode[]
}

function turnCritic(critics: Critics, seed: number): OpenedMethod {
  const stateFile = 'archer.bin'
  let critic: UtteranceCritic | undefined
  let old: SpokenEpisode[] = []
  let batches = 0
  const opened = (): UtteranceCritic => {
    const [first, second] = critics.models()
    return (critic ??= createUtteranceCritic([first, second], archer))
  }
  return {
    companions: {
      ...critics,
      async save(folder) {
        await critics.save(folder)
        if (critic === undefined) return
        const state: ArcherState = { batches, targets: critic.exportState(), old }
        writeFileSync(join(folder, stateFile), encodeState(state))
      },
      async load(folder) {
        await critics.load(folder)
        if (!existsSync(join(folder, stateFile))) return
        const state = decodeState(readFileSync(join(folder, stateFile))) as ArcherState
        opened().importState(state.targets)
        ;({ batches, old } = state)
      },
    },
    async algorithm(groups, context) {
      const fresh = groups.flatMap(({ episodes, rewards }) =>
        episodes.flatMap((episode, m) => spoken(episode, rewards[m]) ?? []),
      )
      if (fresh.length === 0) return nothing({})
      const judge = opened()
      let criticLoss = 0
      for (let epoch = 0; epoch < archer.epochs; epoch++) {
        const drawn = createRandom(seed, 'archer', batches, epoch).shuffle(old).slice(0, fresh.length)
        criticLoss = await judge.learn(fresh, drawn, moveOf(context))
      }
      old = [...fresh, ...old].slice(0, archer.memory)
      batches++
      const advantages = await judge.advantages(fresh)
      const { sequences, loss } = await archerUpdate(groups, fresh, advantages)
      return { sequences, loss, metrics: { criticLoss } }
    },
  }
}

function moveOf({ move }: LearningContext): NonNullable<LearningContext['move']> {
  if (move !== undefined) return move
  throw new AgogeError('This algorithm trains a critic, which this loop does not support', {
    code: 'bad-config',
    given: 'a learning context without `move`',
    expected: 'the loop of `train` or `trainAgent`',
  })
}

interface Critics extends Companions {
  models(): ScalarModel[]
}

/** Critics that start from the policy's weights at their first use. Checkpoints of the policy include them. */
function createCritics(count: number, seed: number): Critics {
  let policy: TrainableBackend | undefined
  let models: ScalarModel[] = []
  const folderOf = (folder: string, i: number): string => join(folder, `critic-${i + 1}`)
  const critics: Critics = {
    bind: (backend) => (policy = backend),
    models() {
      if (models.length === 0) models = Array.from({ length: count }, (_, i) => criticOf(policy, seed, i))
      return models
    },
    async save(folder) {
      for (const [i, model] of models.entries()) await model.save(folderOf(folder, i))
    },
    async load(folder) {
      if (!existsSync(folderOf(folder, 0))) return
      for (const [i, model] of critics.models().entries()) await model.load(folderOf(folder, i))
    },
    async dispose() {
      for (const model of models) await model.dispose()
    },
  }
  return critics
}

function criticOf(policy: TrainableBackend | undefined, seed: number, index: number): ScalarModel {
  if (policy === undefined || !('parameters' in policy) || !('config' in policy))
    throw new AgogeError(
      'A critic starts from the weights of the policy, which is trained in another process',
      {
        code: 'bad-config',
        given: 'a backend that keeps its weights',
        expected: 'a policy that is trained in this process',
      },
    )
  const { config, parameters } = policy as unknown as { config: TransformerConfig; parameters: Parameters }
  const model = createScalarModel({ config, parameters })
  // With equal heads of zero, the two critics would be identical.
  if (index > 0) {
    const random = createRandom(seed, 'critic', index)
    const { offset, size } = model.parameters.layout.entries.at(-1)!
    for (let i = 0; i < size; i++) model.parameters.data[offset + i] = 0.02 * random.normal()
  }
  return model
}
