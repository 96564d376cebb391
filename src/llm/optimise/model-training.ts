import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { defined } from '../../defined.ts'
import { readChatFormat } from '../agent/chat-format/open-format.ts'
import { loadModel, type LoadedModel } from '../backend/base-model.ts'
import type { AgogeConfig } from '../project/config.ts'
import { findRun, isRun, openModels, type OpenedModel } from '../project/models.ts'
import { run as runModel } from '../project/config.ts'
import type { TrialSettings } from '../project/run-trial.ts'
import type { TaskSplit } from '../project/training/split-tasks.ts'
import type { AgentSetup } from '../setup/setup.ts'
import type { SetupTrial } from './lever.ts'
import { reinforce } from './reinforce.ts'
import { fineTuneOn } from './fine-tune-on-trials.ts'
import { BudgetEnded } from './setup-trials.ts'
import { limitTokens, TokenLimit } from './token-limit.ts'

/** A training that a lever asks for. */
export interface TrainingRequest {
  /** Of the model that comes of it: the same in a process that continues the search, and no other training has it. */
  name: string
  /** It is charged these tokens before it starts, and stops when they are used: those that are sampled, and those that are trained on. */
  tokens: number
  /** A model that was trained before, or another local one of the config. Default: `model`. */
  from?: string
  /** SFT on successful trials, or GRPO for a number of steps with what a setup adds to the prompt. */
  method: { name: 'sft'; trials: readonly SetupTrial[] } | { name: 'rl'; steps: number; prompt: AgentSetup }
}

/** What came of a training. */
export interface TrainedModel {
  /** Folder of its checkpoint, relative to that of the search. */
  folder: string
  /** That were used. */
  tokens: number
  /** What was done, in a few words. */
  about: string
}

/** Trains models for levers. */
export interface ModelTraining {
  /** The model of the config that is trained by default. */
  model: string
  /** Whether a model, by the name that setups have for it, can be trained: a local one of the config, or one that was trained before. */
  canTrain: (name: string) => boolean
  /** Tasks of a step of reinforcement learning times episodes of each. */
  episodesOfStep: number
  /** Most tokens that one training may take now. Infinity without a limit of tokens. */
  share: () => number
  /** Trains, and makes the model known to trials under the name of the request. Undefined: nothing could be learnt. */
  train: (request: TrainingRequest) => Promise<TrainedModel | undefined>
}

/** What trainings need of a search. */
export interface ModelTrainingOptions {
  config: AgogeConfig
  /** The folder of the config. */
  root: string
  /** The folder of the search. */
  out: string
  settings: TrialSettings
  split: TaskSplit
  share: () => number
  /** Called with the tokens of a training, also of one that an earlier process made. */
  onTokens: (tokens: number) => void
  /** Called with a model that trials may name from now on. */
  onModel: (model: OpenedModel) => void
  seed: number
  learningRate?: number
}

const key = 'training'
const groups = 8
const groupSize = 8

/** The name of the model that can be trained, or why there is none. */
export function trainableIn(
  { models }: AgogeConfig,
  out: string | undefined,
): { model: string } | { reason: string } {
  const local = models.find(isRun)
  if (local === undefined)
    return { reason: "no model of the config can be trained here: it has no local one, as run('FOLDER')" }
  if (out === undefined) return { reason: 'a trained model needs a folder: give the search one with out' }
  return { model: local.folder }
}

/**
 * Trains models on the training tasks. A training reserves all its tokens in the budget first. One that was finished is not made again by a process
 * that continues the search. One that was interrupted is made again from the start with the same seed; its reservation stays charged, and there is
 * no second one.
 */
export function createModelTraining(model: string, options: ModelTrainingOptions): ModelTraining {
  const { config, root, out, settings, split, onTokens, onModel } = options
  const finished = new Map<string, TrainedModel | undefined>()
  /** Folders of the local models of the config, by name. */
  const locals = new Map(
    config.models.flatMap((one, at) => (isRun(one) ? [[settings.models[at].name, one.folder]] : [])),
  )

  async function learn(request: TrainingRequest): Promise<TrainedModel | undefined> {
    const { journal } = settings
    const id = `train/${request.name}`
    const kept = journal.answer(id, key) as Kept | undefined
    if (kept !== undefined) return modelOf(kept)
    const interrupted = journal.interrupted(id, key)
    const settle = interrupted === undefined ? await reserve(id, request.tokens) : () => interrupted
    const place = join('trained', request.name)
    const target = join(out, place)
    rmSync(target, { recursive: true, force: true })
    const result = await trainOne(await loadModel(folderOf(request.from)), target, request)
    const done: Kept = { ...result, folder: place.replaceAll('\\', '/') }
    journal.write({ type: 'answer', trial: id, key, cost: settle(done.tokens), result: done })
    return modelOf(done)
  }

  /** The folder of a model by the name that setups have for it. */
  function folderOf(name: string | undefined): string | undefined {
    if (name === undefined) return findRun(model, root).found
    return finished.has(name) ? join(out, 'trained', name) : findRun(locals.get(name) ?? name, root).found
  }

  function modelOf({ hasLearnt, folder, tokens, about }: Kept): TrainedModel | undefined {
    onTokens(tokens)
    return hasLearnt ? { folder, tokens, about } : undefined
  }

  async function reserve(id: string, tokens: number) {
    const { budget, journal, signal } = settings
    const reservation = await budget.reserve({ input: tokens, output: 0 }, free, signal).catch(() => {
      signal.throwIfAborted()
      throw new BudgetEnded()
    })
    journal.write({ type: 'sent', trial: id, key, most: reservation.most })
    return (used: number) => reservation.settle({ input: used, output: 0 })
  }

  async function trainOne(loaded: LoadedModel, target: string, request: TrainingRequest) {
    const limit = limitTokens(loaded.backend, request.tokens, settings.signal)
    const { tokenizer } = loaded
    const learning = {
      model: {
        backend: limit.backend,
        tokenizer,
        format: await readChatFormat(loaded.folder, tokenizer),
        window: loaded.backend.config.max_position_embeddings,
      },
      settings: ownTools(settings, request.name),
      signal: limit.signal,
      seed: options.seed,
      name: request.name,
      tasks: split.train,
      ...defined({
        deadlineSeconds: config.trialSeconds,
        maxTokens: config.maxOutputTokens,
        learningRate: options.learningRate,
      }),
    }
    try {
      const { method } = request
      const about =
        method.name === 'sft'
          ? await fineTuneOn(method.trials, learning)
          : await reinforce({
              ...learning,
              ...method,
              groups: Math.min(groups, split.train.length),
              groupSize,
            })
      const isAtLimit = limit.signal.reason instanceof TokenLimit
      const hasLearnt = about !== undefined && limit.updates() > 0
      if (hasLearnt) await loaded.backend.export(target)
      const text = `${about ?? 'nothing to learn'}${isAtLimit ? ', until its tokens were used' : ''}`
      return { hasLearnt, tokens: limit.used(), about: text }
    } finally {
      await loaded.backend.dispose()
    }
  }

  return {
    model,
    canTrain: (name) => locals.has(name) || finished.get(name) !== undefined,
    episodesOfStep: Math.min(groups, split.train.length) * groupSize,
    share: options.share,
    async train(request) {
      if (finished.has(request.name)) return finished.get(request.name)
      const trained = await learn(request)
      finished.set(request.name, trained)
      if (trained === undefined) return undefined
      const [opened] = await openModels({ ...config, models: [runModel(join(out, trained.folder))] }, root)
      onModel({ ...opened, name: request.name })
      return trained
    },
  }
}

interface Kept extends TrainedModel {
  hasLearnt: boolean
}

/** Models of this process cost no money. */
const free = { input: 0, output: 0 }

/** Results of tools are kept by the id of the trial. Episodes of different trainings have equal ids. */
const ownTools = (settings: TrialSettings, name: string): TrialSettings => ({
  ...settings,
  tools: (trial) => settings.tools({ ...trial, id: `train/${name}/${trial.id}` }),
})
