import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readSafetensors, writeSafetensors } from '../../engine/nn/index.ts'
import type { HostTensor, Program } from '../../engine/tensor/index.ts'
import { AgogeError } from '../../error.ts'
import { readCheckpoint, writeCheckpoint } from '../checkpoint/checkpoint.ts'
import type { OptimStep } from '../model-backend.ts'
import { causalLimits, rotaryTable } from '../model/attention.ts'
import { type Batch, inverseRows, makeBatches } from '../model/batches.ts'
import { rowLength } from '../model/blockwise-attention.ts'
import { firstDifference, headWidth, type TransformerConfig } from '../model/config.ts'
import { createFoldedGradient, createFolding } from '../model/folded-weights.ts'
import { createOptimizer, createOptimizerState } from '../model/optimizer.ts'
import type { OptimizerState } from '../model/optimizer.ts'
import { initialiseParameters, parameterLayout, type Parameters } from '../model/parameters.ts'
import { compileValues, compileValueTraining } from '../model/scalar-programs.ts'
import { checkSequences } from './sequences.ts'

/**
 * A transformer that outputs one number at every token: a critic, a reward model (the number at the last token) or a
 * process reward model (at the end of each step). The head is one row `score.weight` on the normalised hidden state, as
 * in the single-label sequence classifiers of `transformers`. One call at a time.
 */
export interface ScalarModel {
  readonly config: TransformerConfig
  /** Weights of the trunk in the layout of a language model, followed by the head. */
  readonly parameters: Parameters
  /** One number per token for each sequence. */
  values(sequences: readonly Int32Array[], options?: { signal?: AbortSignal }): Promise<Float32Array[]>
  /**
   * Accumulates the gradient of `sum over tokens of gradient * value`; gradients of 0 cost nothing. A call that fails
   * clears it.
   */
  backward(
    sequences: readonly Int32Array[],
    gradients: readonly Float32Array[],
    options?: { signal?: AbortSignal },
  ): Promise<void>
  /** Applies and clears the gradient; returns its norm before clipping. */
  optimStep(step: OptimStep): Promise<{ gradientNorm: number }>
  /** The accumulated gradient, in the layout of the parameters. */
  readonly gradient: Float32Array
  /** Writes the trunk as a language model's checkpoint, and the head and the optimiser beside it (`score.safetensors`, `score-optimizer.safetensors`). */
  save(folder: string): Promise<void>
  load(folder: string): Promise<void>
  dispose(): Promise<void>
}

interface ScalarModelOptions {
  config: TransformerConfig
  /** Weights of a language model of this architecture, copied without its output head. Default: initialised from `seed`. */
  parameters?: Parameters
  seed?: number
  threads?: number
  /** Tokens of a micro-batch, padding included. Default: 1024. */
  tokenBudget?: number
}

const scoreName = 'score.weight'
const scoreFile = 'score.safetensors'
const optimizerFile = 'score-optimizer.safetensors'

/** The head starts at zero, so every value is 0 before training, whatever the trunk was trained for. */
export function createScalarModel(options: ScalarModelOptions): ScalarModel {
  const { threads, tokenBudget = 1024 } = options
  // The output matrix of a language model is not used.
  const config: TransformerConfig = { ...options.config, tie_word_embeddings: true }
  const parameters = scalarParameters(config, options)
  const score = parameters.layout.entries.at(-1)!
  const gain = parameters.layout.views.find(({ name }) => name === 'norm')!
  const gradient = new Float32Array(parameters.layout.size)
  const optimizer = createOptimizer(threads)
  let state = createOptimizerState(parameters.layout.size)
  const fold = createFolding(parameters, config)
  const folded = createFoldedGradient(config)
  const width = config.hidden_size
  const window = config.max_position_embeddings
  const positions = rowLength(window)
  const table = rotaryTable(config, positions)
  const compilers = { values: compileValues, training: compileValueTraining }
  const programs = new Map<string, Promise<Program>>()
  const part = (array: Float32Array, { offset, size }: { offset: number; size: number }) =>
    array.subarray(offset, offset + size)

  function program(kind: keyof typeof compilers, { blocks }: Batch): Promise<Program> {
    const key = `${kind} ${blocks}`
    let found = programs.get(key)
    if (found === undefined) programs.set(key, (found = compilers[kind](config, { blocks, threads })))
    return found
  }

  /** Inputs that all batches of a call share. */
  function weightFeeds(): Record<string, HostTensor> {
    const { head: _, ...weights } = fold()
    const gains = part(parameters.data, gain)
    const data = part(parameters.data, score).map((weight, i) => weight * gains[i])
    return { ...weights, score: { data, shape: [1, width] } }
  }

  function batchFeeds(batch: Batch): Record<string, HostTensor> {
    const { time, blocks } = batch
    const size = time / blocks
    const half = headWidth(config) / 2
    const shape = [batch.count, time]
    return {
      tokens: { data: batch.tokens, shape },
      positions: { data: batch.positions, shape },
      cosineTable: { data: table.cosine, shape: [positions, half] },
      sineTable: { data: table.sine, shape: [positions, half] },
      limits: { data: causalLimits(size), shape: [size, size] },
      rows: { data: batch.rows, shape: [batch.rows.length] },
    }
  }

  /**
   * Index t of a batch holds the output for the token before it. One extra token, which is never read, covers the last
   * one.
   */
  const batchesOf = (
    sequences: readonly Int32Array[],
    counts: (source: number, token: number) => boolean,
  ) => {
    checkSequences(sequences, config)
    const longer = sequences.map((tokens) => {
      const row = new Int32Array(tokens.length + 1)
      row.set(tokens)
      return row
    })
    return makeBatches(longer, tokenBudget, (source, index) => counts(source, index - 1))
  }

  async function pull(
    batch: Batch,
    weights: Record<string, HostTensor>,
    gradients: readonly Float32Array[],
  ): Promise<void> {
    const run = await program('training', batch)
    const { sums, into } = folded.feeds()
    const { 'sum.head': _sum, ...before } = sums
    const { 'gradient.head': _gradient, ...written } = into
    const outputs = await run.run(
      {
        ...weights,
        ...batchFeeds(batch),
        ...before,
        gradients: {
          data: Float32Array.from(batch.predicted, ({ source, index }) => gradients[source][index - 1]),
          shape: [batch.rows.length],
        },
        inverse: { data: inverseRows(batch), shape: [batch.tokens.length] },
      },
      written,
    )
    folded.advance()
    folded.addRows('embedding', batch.tokens, outputs['inputRows'].data as Float32Array)
    const ofFolded = outputs['scoreGradient'].data
    for (let i = 0; i < width; i++) {
      gradient[score.offset + i] += ofFolded[i] * parameters.data[gain.offset + i]
      gradient[gain.offset + i] += ofFolded[i] * parameters.data[score.offset + i]
    }
  }

  return {
    config,
    parameters,
    gradient,
    async values(sequences, { signal } = {}) {
      const results = sequences.map((tokens) => new Float32Array(tokens.length))
      const batches = batchesOf(sequences, () => true)
      const weights = weightFeeds()
      for (const batch of batches) {
        signal?.throwIfAborted()
        const { values } = await (await program('values', batch)).run({ ...weights, ...batchFeeds(batch) })
        batch.predicted.forEach(({ source, index }, i) => (results[source][index - 1] = values.data[i]))
      }
      return results
    },
    async backward(sequences, gradients, { signal } = {}) {
      checkGradients(sequences, gradients)
      try {
        const batches = batchesOf(sequences, (source, token) => gradients[source][token] !== 0)
        const weights = weightFeeds()
        for (const batch of batches) {
          signal?.throwIfAborted()
          await pull(batch, weights, gradients)
        }
        folded.unfold(parameters, gradient)
      } catch (error) {
        gradient.fill(0)
        throw error
      } finally {
        folded.clear()
      }
    },
    async optimStep(step) {
      const gradientNorm = await optimizer
        .step(parameters, gradient, state, step)
        .finally(() => gradient.fill(0))
      return { gradientNorm }
    },
    async save(folder) {
      const layout = parameterLayout(config)
      const trunk = { layout, data: parameters.data.subarray(0, layout.size) }
      const head = { [scoreName]: { data: part(parameters.data, score), shape: score.shape } }
      const others = {
        [scoreFile]: writeSafetensors(head, { metadata: { format: 'pt' } }),
        [optimizerFile]: encodeOptimizer(state),
      }
      await writeCheckpoint(folder, { config, parameters: trunk, weightVersion: 0 }, 'F32', undefined, others)
    },
    async load(folder) {
      const loaded = await readScalarCheckpoint(folder)
      const other = firstDifference(loaded.config, config)
      if (other !== undefined)
        throw badHead(
          `${folder}: config.json describes another architecture in ${other}`,
          loaded.config[other],
        )
      parameters.data.set(loaded.parameters.data)
      parameters.data.set(loaded.score, score.offset)
      state =
        (await readOptimizer(folder, parameters.layout.size)) ?? createOptimizerState(parameters.layout.size)
      gradient.fill(0)
    },
    async dispose() {
      const made = await Promise.all(programs.values())
      await Promise.all([optimizer.dispose(), ...made.map((program) => program.release())])
    },
  }
}

const moments = ['first', 'second', 'momentum'] as const

function encodeOptimizer(state: OptimizerState): Uint8Array {
  const { matrixSteps, otherSteps } = state
  const tensors = moments.map((name) => [name, { data: state[name], shape: [state[name].length] }])
  const metadata = { matrixSteps: String(matrixSteps), otherSteps: String(otherSteps) }
  return writeSafetensors(Object.fromEntries(tensors), { metadata })
}

/** Undefined if the model was saved without it, as by earlier versions. */
async function readOptimizer(folder: string, size: number): Promise<OptimizerState | undefined> {
  const file = join(folder, optimizerFile)
  if (!existsSync(file)) return undefined
  const { tensors, metadata } = readSafetensors(await readFile(file), file)
  const [first, second, momentum] = moments.map((name) => {
    const data = tensors[name]?.data
    if (data?.length !== size) throw badHead(`${file}: ${name} does not fit`, data?.length)
    return data
  })
  const count = (name: string): number => Number(metadata?.[name] ?? 0)
  return { first, second, momentum, matrixSteps: count('matrixSteps'), otherSteps: count('otherSteps') }
}

/** Loads a model that `save` wrote. @throws AgogeError if the folder has no head. */
export async function loadScalarModel(
  folder: string,
  options: Omit<ScalarModelOptions, 'config' | 'parameters' | 'seed'> = {},
): Promise<ScalarModel> {
  const { config, parameters, score } = await readScalarCheckpoint(folder)
  const model = createScalarModel({ ...options, config, parameters })
  model.parameters.data.set(score, parameters.layout.size)
  return model
}

function scalarParameters(config: TransformerConfig, options: ScalarModelOptions): Parameters {
  const given = options.parameters ?? initialiseParameters(config, options.seed ?? 0)
  const layout = parameterLayout(config)
  const width = config.hidden_size
  const score = {
    name: scoreName,
    shape: [1, width],
    offset: layout.size,
    size: width,
    kind: 'embedding',
  } as const
  const data = new Float32Array(layout.size + width)
  for (const { name, offset, size } of layout.entries) {
    const source = given.layout.entries.find((entry) => entry.name === name)
    if (source === undefined || source.size !== size)
      throw badHead(`the weights do not belong to this architecture: ${name}`, source?.shape)
    data.set(given.data.subarray(source.offset, source.offset + size), offset)
  }
  return { layout: { ...layout, entries: [...layout.entries, score], size: data.length }, data }
}

async function readScalarCheckpoint(folder: string) {
  const { config, parameters } = await readCheckpoint(folder)
  const file = join(folder, scoreFile)
  const bytes = await readFile(file).catch((cause: unknown) => {
    throw badHead(`${file} cannot be read: the folder has no model of values`, undefined, cause)
  })
  const head = readSafetensors(bytes, file).tensors[scoreName]?.data
  if (head?.length !== config.hidden_size) throw badHead(`${file}: ${scoreName} does not fit`, head?.length)
  return { config: { ...config, tie_word_embeddings: true }, parameters, score: head }
}

function checkGradients(sequences: readonly Int32Array[], gradients: readonly Float32Array[]): void {
  const wrong = sequences.findIndex((tokens, i) => gradients[i]?.length !== tokens.length)
  if (wrong < 0 && gradients.length === sequences.length) return
  throw new AgogeError(`gradients of sequence ${wrong} do not match its tokens`, {
    code: 'shape-mismatch',
    given: gradients[wrong]?.length,
    expected: `${sequences[wrong]?.length} values, one a token`,
  })
}

function badHead(what: string, given: unknown, cause?: unknown): AgogeError {
  return new AgogeError(what, {
    code: 'bad-checkpoint',
    given,
    expected: 'a folder that a scalar model was saved in',
    hint: 'to begin with a language model, pass its config and parameters to createScalarModel',
    cause,
  })
}
