import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { AgogeError } from '../../error.ts'
import { warmUpStableDecay } from '../../engine/nn/index.ts'
import { trainTokenizer } from '../tokenizer/bpe-train.ts'
import { smallConfig } from '../model/config.ts'
import type { TransformerConfig } from '../model/config.ts'
import { conversationSeed, corpusBatch } from './corpus-batches.ts'
import { corpusConversation } from './corpus/index.ts'
import type { CorpusStage } from './corpus/index.ts'
import { createLocalBackend } from '../backend/local-backend.ts'
import type { LocalBackend } from '../backend/local-backend.ts'
import { initialiseParameters } from '../model/parameters.ts'
import type { Parameters } from '../model/parameters.ts'
import { evaluateSkills } from './skill-evaluation.ts'
import type { SkillScores } from './skill-evaluation.ts'
import { callText, specialTokens } from '../tokenizer/template.ts'
import { createTokenizer } from '../tokenizer/tokenizer.ts'
import type { Tokenizer } from '../tokenizer/tokenizer.ts'

export interface PretrainProgress {
  step: number
  tokens: number
  totalTokens: number
  /** Seconds of training so far, those before a resumption included. */
  seconds: number
  tokensPerSecond: number
  /** Mean weighted cross-entropy of the batch in nats. */
  loss: number
  gradientNorm: number
  learningRate: number
  /** Where the skills were just probed. */
  probes?: SkillScores
}

export interface PretrainOptions {
  seed: number
  /** How many tokens of the corpus to train on; a conversation is met once. */
  tokens: number
  /** What is taught; `general` unless told. */
  stage?: CorpusStage
  /** A model to go on from, with the tokenizer it was made with. Its parameters are taken over. */
  from?: { config: TransformerConfig; parameters: Parameters; tokenizer: Tokenizer }
  /** Default: that of `from`, or the 0.92M-parameter model. */
  config?: TransformerConfig
  /** Default: that of `from`, or one trained on the first 20,000 conversations of the seed. */
  tokenizer?: Tokenizer
  /** Default 4096. */
  batchTokens?: number
  /** The highest; `stageSchedules` unless told. */
  learningRate?: number
  /** Default 0.1; see `CorpusBatchOptions`. */
  contextWeight?: number
  /** Probe the skills this often, evenly spread, the last time at the end. Default 10; 0 = never. */
  probes?: number
  /** Where to keep checkpoints; without it none are kept. */
  checkpointFolder?: string
  /** Steps between checkpoints. Default 200. */
  checkpointEvery?: number
  /** Go on from the last checkpoint in `checkpointFolder`, with the same weights, bit for bit, as if never stopped. */
  resume?: boolean
  threads?: number
  onProgress?: (progress: PretrainProgress) => void
  signal?: AbortSignal
}

export interface Pretrained {
  backend: LocalBackend
  tokenizer: Tokenizer
  steps: number
  tokens: number
  seconds: number
  loss: number
  probes: SkillScores
}

/** What a checkpoint must know beside weights and optimiser. */
interface Cursor {
  folder: string
  settings: string
  step: number
  conversation: number
  tokens: number
  seconds: number
  loss: number
  probes: SkillScores
}

/**
 * The learning rate of a course: the highest, after how many tokens it is reached, and over which last part it is
 * brought to 0 in a straight line.
 */
export const stageSchedules: Record<CorpusStage, { highest: number; warmUp: number; decay: number }> = {
  general: { highest: 0.003, warmUp: 400_000, decay: 0.4 },
  decisions: { highest: 0.0025, warmUp: 100_000, decay: 0.5 },
}

const tokenizerConversations = 20_000
const longest = 320

/** A tokenizer trained on the beginning of the corpus of a seed. */
export function corpusTokenizer(
  seed: number,
  vocabularySize: number,
  conversations = tokenizerConversations,
): Tokenizer {
  function* texts(): Generator<string> {
    for (let i = 0; i < conversations; i += 1) {
      for (const message of corpusConversation(conversationSeed(seed, i))) {
        if (message.text !== '') yield message.text
        for (const call of message.calls ?? []) yield callText(call)
      }
    }
  }
  return createTokenizer(trainTokenizer(texts(), { vocabularySize, specialTokens }))
}

/**
 * Makes a base model from nothing, or takes one through another course: a tokenizer from the generated corpus, then a
 * decoder-only transformer trained on an unlimited, seeded supply of conversations, Muon for its matrices and AdamW for the rest, gradients clipped at 1.
 * The result depends on the seed, the settings and the number of threads only.
 */
export async function pretrain(options: PretrainOptions): Promise<Pretrained> {
  const {
    seed,
    tokens: totalTokens,
    stage = 'general',
    from,
    config = from?.config ?? smallConfig,
    batchTokens = 4096,
    learningRate: highest = stageSchedules[stage].highest,
  } = options
  const {
    contextWeight = 0.1,
    probes: probeTimes = 10,
    checkpointFolder,
    checkpointEvery = 200,
    signal,
  } = options
  if (!Number.isSafeInteger(totalTokens) || totalTokens < 1) {
    throw new AgogeError('pretraining needs a number of tokens', {
      code: 'bad-argument',
      given: totalTokens,
      expected: 'a positive integer, for instance 16000000',
    })
  }
  const start =
    from === undefined ? 'nothing' : createHash('sha256').update(from.parameters.data).digest('hex')
  const settings = JSON.stringify({
    seed,
    totalTokens,
    stage,
    start,
    config,
    batchTokens,
    highest,
    contextWeight,
    longest,
  })
  const previous = options.resume === true ? readCursor(checkpointFolder, settings) : undefined
  const tokenizer = options.tokenizer ?? from?.tokenizer ?? corpusTokenizer(seed, config.vocab_size)
  const threads = options.threads === undefined ? {} : { threads: options.threads }
  const parameters = from?.parameters ?? initialiseParameters(config, seed)
  const backend = createLocalBackend({ config, parameters, tokenizer, ...threads })
  const at: Cursor = previous ?? {
    folder: '',
    settings,
    step: 0,
    conversation: 0,
    tokens: 0,
    seconds: 0,
    loss: 0,
    probes: {},
  }
  // Counted in tokens, since batches differ a little.
  const schedule = warmUpStableDecay({
    steps: totalTokens,
    warmUpSteps: Math.min(stageSchedules[stage].warmUp, Math.ceil(totalTokens * 0.1)),
    decaySteps: Math.floor(totalTokens * stageSchedules[stage].decay),
  })
  try {
    if (previous !== undefined) await backend.load(join(checkpointFolder!, previous.folder))
    while (at.tokens < totalTokens) {
      signal?.throwIfAborted()
      const started = performance.now()
      const batch = corpusBatch(tokenizer, at.conversation, {
        seed,
        stage,
        batchTokens,
        contextWeight,
        longest,
      })
      const report = await backend.forwardBackward(
        batch.sequences,
        { name: 'cross_entropy' },
        signal ? { signal } : {},
      )
      const learningRate = highest * schedule(at.tokens)
      const { gradientNorm } = await backend.optimStep({
        learningRate,
        optimizer: 'muon',
        clip: 1,
        weightDecay: 0.01,
      })
      const seconds = (performance.now() - started) / 1000
      const probesBefore = Math.floor((at.tokens * probeTimes) / totalTokens)
      at.step += 1
      at.conversation = batch.next
      at.tokens += batch.tokens
      at.seconds += seconds
      at.loss = report.loss
      const progress: PretrainProgress = {
        step: at.step,
        tokens: at.tokens,
        totalTokens,
        seconds: at.seconds,
        tokensPerSecond: batch.tokens / seconds,
        loss: report.loss,
        gradientNorm,
        learningRate,
      }
      if (Math.floor((Math.min(at.tokens, totalTokens) * probeTimes) / totalTokens) > probesBefore) {
        const last = at.tokens >= totalTokens
        at.probes = await evaluateSkills(backend, tokenizer, {
          count: last ? 100 : 24,
          ...(signal ? { signal } : {}),
        })
        progress.probes = at.probes
      }
      options.onProgress?.(progress)
      if (checkpointFolder !== undefined && (at.step % checkpointEvery === 0 || at.tokens >= totalTokens)) {
        await writeCheckpoint(backend, checkpointFolder, at)
      }
    }
  } catch (error) {
    await backend.dispose()
    throw error
  }
  return {
    backend,
    tokenizer,
    steps: at.step,
    tokens: at.tokens,
    seconds: at.seconds,
    loss: at.loss,
    probes: at.probes,
  }
}

/** The weights first, then the cursor that names them, then the old weights go: a kill at any moment loses nothing. */
async function writeCheckpoint(backend: LocalBackend, root: string, at: Cursor): Promise<void> {
  const old = at.folder
  at.folder = `step-${String(at.step).padStart(6, '0')}`
  await mkdir(root, { recursive: true })
  await backend.save(join(root, at.folder))
  await writeFile(join(root, 'cursor.json.part'), `${JSON.stringify(at, null, 2)}\n`)
  await rename(join(root, 'cursor.json.part'), join(root, 'cursor.json'))
  if (old !== '' && old !== at.folder) await rm(join(root, old), { recursive: true, force: true })
}

function readCursor(root: string | undefined, settings: string): Cursor | undefined {
  if (root === undefined || !existsSync(join(root, 'cursor.json'))) return undefined
  const cursor = JSON.parse(readFileSync(join(root, 'cursor.json'), 'utf8')) as Cursor
  if (cursor.settings === settings) return cursor
  throw new AgogeError('the checkpoint is of another pretraining', {
    code: 'checkpoint-mismatch',
    given: cursor.settings,
    expected: settings,
    hint: `use the same settings, or start anew with another folder than ${root}`,
  })
}
