import { createHash } from 'node:crypto'
import { existsSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import { warmUpStableDecay } from '../../engine/nn/index.ts'
import { readForeignObject } from '../../untrusted/foreign-file.ts'
import { trainTokenizer } from '../tokenizer/bpe-train.ts'
import { smallConfig } from '../model/config.ts'
import type { TransformerConfig } from '../model/config.ts'
import { average } from '../../statistics/statistics.ts'
import { conversationSeed, corpusBatch } from './corpus-batches.ts'
import type { CorpusBatch } from './corpus-batches.ts'
import { corpusConversation } from './corpus/conversation.ts'
import type { CorpusStage } from './corpus/conversation.ts'
import { smallFormatFiles } from '../agent/chat-format/open-format.ts'
import { createLocalBackend } from '../backend/local-backend.ts'
import type { LocalBackend } from '../backend/local-backend.ts'
import { initialiseParameters } from '../model/parameters.ts'
import type { Parameters } from '../model/parameters.ts'
import type { TrainingPart } from '../training/kernel.ts'
import { adoptRun, runTraining } from '../training/run.ts'
import type { RunOptions } from '../training/run.ts'
import { describedSkills, evaluatedSkills, evaluateSkills } from './skill-evaluation.ts'
import type { SkillName, SkillScores } from './skill-evaluation.ts'
import { callText, specialTokens } from '../tokenizer/template.ts'
import { createTokenizer } from '../tokenizer/tokenizer.ts'
import type { Tokenizer } from '../tokenizer/tokenizer.ts'

export interface PretrainProgress {
  step: number
  tokens: number
  totalTokens: number
  /** Seconds of this step. */
  seconds: number
  tokensPerSecond: number
  /** Mean weighted cross-entropy of the batch in nats. */
  loss: number
  gradientNorm: number | undefined
  learningRate: number
}

/**
 * Settings of `pretrain`. `checkpointEvery` defaults to 200. A model of the stage `described` reads tool definitions in its
 * prompts, and its folder says so.
 */
export interface PretrainOptions extends RunOptions {
  seed: number
  /** Number of corpus tokens to train on. Each conversation is used once. */
  tokens: number
  /** Mixture of skills. Default: `general`. */
  stage?: CorpusStage
  /** A model to continue from, with its tokenizer. Its parameters are modified in place. */
  from?: { config: TransformerConfig; parameters: Parameters; tokenizer: Tokenizer }
  /** Default: that of `from`, or the 0.92M-parameter model. */
  config?: TransformerConfig
  /** Default: that of `from`, or one trained on the first 20,000 conversations of the seed. See `corpusTokenizer`. */
  tokenizer?: Tokenizer
  /** Default: that of `stageSchedules`. */
  batchTokens?: number
  /** Peak learning rate. Default: that of `stageSchedules`. */
  learningRate?: number
  /** Default: 0.1; see `CorpusBatchOptions`. */
  contextWeight?: number
  /** Number of skill evaluations, evenly spaced, the last at the end. Default: 10; 0: none. */
  evaluations?: number
  threads?: number
  onProgress?: (progress: PretrainProgress) => void
  /** Called after each skill evaluation. */
  onSkills?: (skills: SkillScores, tokens: number) => void
}

export interface Pretrained {
  backend: LocalBackend
  tokenizer: Tokenizer
  steps: number
  tokens: number
  /** Seconds of training, without evaluations. */
  seconds: number
  loss: number
  /** Results of the last evaluation. */
  skills: SkillScores
}

/** Position in the corpus; part of the checkpoints. */
interface Cursor {
  conversation: number
  tokens: number
  /** Tokens before the last step. */
  before: number
}

/**
 * Schedule of a stage: the peak of the learning rate, the tokens until it is reached, the final share of training in which it
 * decays linearly to 0, and the tokens of a batch.
 */
export const stageSchedules: Record<
  CorpusStage,
  { highest: number; warmUp: number; decay: number; batchTokens: number }
> = {
  general: { highest: 0.003, warmUp: 400_000, decay: 0.4, batchTokens: 4096 },
  decisions: { highest: 0.0025, warmUp: 100_000, decay: 0.5, batchTokens: 4096 },
  records: { highest: 0.0025, warmUp: 100_000, decay: 0.5, batchTokens: 4096 },
  described: { highest: 0.0025, warmUp: 100_000, decay: 0.5, batchTokens: 4096 },
}

const tokenizerConversations = 20_000

/** Tokens of the longest conversation of a stage. Longer ones are skipped. */
const longestOf: Record<CorpusStage, number> = {
  general: 320,
  decisions: 320,
  records: 480,
  described: 640,
}

/** Most tokens of the tool definitions in the prompts of a model that reads them: two fifths of its context. */
const toolTokensOf = (config: TransformerConfig): number => Math.floor(config.max_position_embeddings * 0.4)

/** A tokenizer trained on the first conversations of a seed, from these stages in turn. It has marks of records. */
export function corpusTokenizer(
  seed: number,
  vocabularySize: number,
  conversations = tokenizerConversations,
  stages: readonly CorpusStage[] = ['general'],
): Tokenizer {
  function* texts(): Generator<string> {
    for (let i = 0; i < conversations; i += 1) {
      const stage = stages[i % stages.length]
      for (const message of corpusConversation(conversationSeed(seed, i), 'train', stage)) {
        if (message.text !== '') yield message.text
        for (const call of message.calls ?? []) yield callText(call)
      }
    }
  }
  return createTokenizer({ ...trainTokenizer(texts(), { vocabularySize, specialTokens }), recordMarks: true })
}

/**
 * Trains a base model from scratch, or continues one with another stage. Trains a tokenizer on the generated corpus, then a
 * decoder-only transformer on an unlimited, seeded supply of conversations. Uses Muon for matrices and AdamW for other
 * parameters, with gradients clipped at 1. The result depends only on the seed, the settings and the number of threads, even if
 * it was interrupted and resumed.
 *
 * @throws AgogeError `bad-argument` if `tokens` is not positive; for the run folder, as `runTraining`.
 * @example
 * const { backend, skills } = await pretrain({ seed: 1, tokens: 16_000_000, out: 'runs/base' })
 */
export async function pretrain(options: PretrainOptions): Promise<Pretrained> {
  const { seed, tokens: totalTokens, stage = 'general', from } = options
  const { config = from?.config ?? smallConfig, contextWeight = 0.1 } = options
  const { batchTokens = stageSchedules[stage].batchTokens } = options
  const { learningRate: highest = stageSchedules[stage].highest } = options
  if (!Number.isSafeInteger(totalTokens) || totalTokens < 1) {
    throw new AgogeError('pretraining needs a positive number of tokens', {
      code: 'bad-argument',
      given: totalTokens,
      expected: 'a positive integer, for instance 16000000',
    })
  }
  const start =
    from === undefined ? 'nothing' : createHash('sha256').update(from.parameters.data).digest('hex')
  const longest = longestOf[stage]
  const tokenizer = options.tokenizer ?? from?.tokenizer ?? corpusTokenizer(seed, config.vocab_size)
  const settings = {
    seed,
    totalTokens,
    stage,
    start,
    config,
    batchTokens,
    highest,
    contextWeight,
    longest,
    ...(tokenizer.model.recordMarks === true && { recordMarks: true }),
  }
  const threads = options.threads === undefined ? {} : { threads: options.threads }
  const parameters = from?.parameters ?? initialiseParameters(config, seed)
  const readsTools =
    stage === 'described' ? { companions: smallFormatFiles({ toolTokens: toolTokensOf(config) }) } : {}
  const backend = createLocalBackend({ config, parameters, tokenizer, ...readsTools, ...threads })
  const part = pretrainingPart(backend, tokenizer, { ...options, stage, batchTokens, contextWeight, highest })
  try {
    if (options.out !== undefined && options.resume === true) adoptEarlier(options.out, backend, settings)
    const { records } = await runTraining(part, {
      checkpointEvery: 200,
      ...options,
      models: { model: backend },
      settings,
    })
    const steps = records.filter(({ phase }) => phase === part.name)
    const last = records.findLast(({ phase }) => phase === `${part.name}-validation`)
    const { mean: _, ...skills } = last?.metrics ?? {}
    return {
      backend,
      tokenizer,
      steps: steps.length,
      tokens: steps.at(-1)?.metrics['tokens'] ?? 0,
      seconds: steps.reduce((sum, { seconds }) => sum + seconds, 0),
      loss: steps.at(-1)?.metrics['loss'] ?? 0,
      skills,
    }
  } catch (error) {
    await backend.dispose()
    throw error
  }
}

type PartOptions = PretrainOptions &
  Required<Pick<PretrainOptions, 'stage' | 'batchTokens' | 'contextWeight'>> & { highest: number }

function pretrainingPart(
  backend: LocalBackend,
  tokenizer: Tokenizer,
  options: PartOptions,
): TrainingPart<CorpusBatch> {
  const { seed, tokens: totalTokens, stage, batchTokens, contextWeight, highest } = options
  const { evaluations = 10, signal } = options
  const { warmUp, decay } = stageSchedules[stage]
  // Counted in tokens, since batch sizes vary a little.
  const schedule = warmUpStableDecay({
    steps: totalTokens,
    warmUpSteps: Math.min(warmUp, Math.ceil(totalTokens * 0.1)),
    decaySteps: Math.floor(totalTokens * decay),
  })
  const names = (Object.keys(evaluatedSkills) as SkillName[]).filter(
    (name) => stage === 'described' || !describedSkills.includes(name),
  )
  let at: Cursor = { conversation: 0, tokens: 0, before: 0 }
  const evaluated = (tokens: number): number =>
    Math.floor((Math.min(tokens, totalTokens) * evaluations) / totalTokens)
  return {
    name: 'pretrain',
    steps: null,
    progress: () => at.tokens / totalTokens,
    collect: () =>
      corpusBatch(tokenizer, at.conversation, {
        seed,
        stage,
        batchTokens,
        contextWeight,
        longest: longestOf[stage],
      }),
    async update(batch, tools) {
      const started = performance.now()
      const learningRate = highest * schedule(at.tokens)
      const update = { sequences: batch.sequences, loss: { name: 'cross_entropy' } as const }
      const step = { learningRate, optimizer: 'muon', clip: 1, weightDecay: 0.01 } as const
      const { loss, gradientNorm } = await tools.apply(backend, update, step)
      at = { conversation: batch.next, tokens: at.tokens + batch.tokens, before: at.tokens }
      const seconds = (performance.now() - started) / 1000
      const metrics = {
        loss,
        gradientNorm,
        learningRate,
        tokens: at.tokens,
        tokensPerSecond: batch.tokens / seconds,
      }
      options.onProgress?.({ step: tools.step + 1, totalTokens, seconds, ...metrics })
      return metrics
    },
    validation: {
      measure: 'mean',
      isDue: () => evaluated(at.tokens) > evaluated(at.before),
      async score() {
        const count = at.tokens >= totalTokens ? 100 : 24
        const skills = await evaluateSkills(backend, tokenizer, { count, names, ...defined({ signal }) })
        options.onSkills?.(skills, at.tokens)
        return { score: average(Object.values(skills)), metrics: skills }
      },
      keep: 'last',
    },
    exportState: () => at,
    importState: (state) => (at = state as Cursor),
  }
}

/** Converts a checkpoint folder of version 0.1 to a run of this version. */
function adoptEarlier(out: string, backend: LocalBackend, settings: Readonly<Record<string, unknown>>): void {
  const file = join(out, 'cursor.json')
  if (!existsSync(file) || existsSync(join(out, 'config.json'))) return
  const cursor = readForeignObject(file, 'bad-run-folder') as unknown as Cursor & {
    folder: string
    settings: string
    step: number
  }
  if (cursor.settings !== JSON.stringify(settings))
    throw new AgogeError('the checkpoint belongs to another pretraining', {
      code: 'resume-mismatch',
      given: cursor.settings,
      expected: JSON.stringify(settings),
      hint: `use the same settings, or start a new run in a folder other than ${out}`,
    })
  const { step, conversation, tokens } = cursor
  adoptRun(out, {
    trainer: 'pretrain',
    models: [backend],
    settings,
    step,
    partState: { conversation, tokens, before: tokens },
    writeWeights: (path) => renameSync(join(out, cursor.folder), path),
  })
}
