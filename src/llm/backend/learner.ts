import { yieldToEventLoop } from '../../event-loop.ts'
import type { TrainingSequence } from '../episode/types.ts'
import type { HostTensor, Program } from '../../engine/tensor/index.ts'
import { causalLimits, rotaryTable } from '../model/attention.ts'
import type { ForwardOptions, LossSettings } from '../model-backend.ts'
import {
  type Batch,
  inverseRows,
  inverseTemperatures,
  makeBatches,
  makePackedBatches,
  packedLimits,
  pick,
} from '../model/batches.ts'
import { checkSequences, checkTemperatures, checkTraining } from './sequences.ts'
import { rowLength } from '../model/blockwise-attention.ts'
import { headWidth } from '../model/config.ts'
import type { TransformerConfig } from '../model/config.ts'
import { createFoldedGradient, createFolding } from '../model/folded-weights.ts'
import type { FoldedWeights } from '../model/folded-weights.ts'
import { addBatch, createLossSums } from './loss-report.ts'
import type { LossSums } from './loss-report.ts'
import { createFoldedFactors } from '../model/low-rank.ts'
import type { LowRank } from '../model/low-rank.ts'
import { batchShape } from '../model/memory.ts'
import type { BatchLimits } from '../model/memory.ts'
import { compileForward, compileTraining, createOutputBuffers } from '../model/programs.ts'
import type { Parameters } from '../model/parameters.ts'
import { compileRecomputing } from '../model/recomputing.ts'

export interface LearnerOptions extends BatchLimits {
  config: TransformerConfig
  parameters: Parameters
  /** Threads inside operators. A call can override it. */
  threads?: number
  /** The adapter to train, which the parameters include. Default: all weights. */
  lowRank?: LowRank
  /** Memory for the accumulated gradient. Default: allocated here. */
  gradient?: Float32Array
}

export interface LearnerCall {
  signal?: AbortSignal | undefined
  /** Threads inside operators. */
  threads?: number | undefined
}

export interface LearnerForward extends LearnerCall {
  temperatures?: ForwardOptions['temperatures']
  /** What to report for each token. Default: log-probabilities. */
  what?: 'logprobs' | 'entropies' | undefined
}

/** The differentiable part of a local backend: log-probabilities and accumulated gradients. */
export interface Learner {
  /**
   * The accumulated gradient, in the layout of the parameters or of the adapter. A `forwardBackward` that fails or is
   * aborted clears it.
   */
  gradient: Float32Array
  forward(sequences: readonly Int32Array[], options?: LearnerForward): Promise<Float32Array[]>
  forwardBackward(
    sequences: readonly TrainingSequence[],
    loss: LossSettings,
    options?: LearnerCall,
  ): Promise<LossSums>
  dispose(): Promise<void>
}

type Runs = Pick<Program, 'run' | 'release'>

/** Compiles programs, and allocates what they need, at first use. The order of computation depends only on the data. */
export function createLearner(options: LearnerOptions): Learner {
  const { config, parameters, packing, lowRank } = options
  const gradient = options.gradient ?? new Float32Array((lowRank?.data ?? parameters.data).length)
  const fold = createFolding(parameters, config)
  const factors = lowRank && createFoldedFactors(lowRank, parameters, config)
  const folded = factors ?? createFoldedGradient(config)
  const buffers = createOutputBuffers()
  const programs = new Map<string, Promise<Runs>>()
  // There is one program per kind of batch, and each would keep its peak memory besides those of the others.
  const keepMemory = options.activationBytes === undefined
  // The runtime needs tables as long as rows, whatever the positions in them.
  const positions = rowLength(Math.max(config.max_position_embeddings, packing ?? 0))
  let madeTable: ReturnType<typeof rotaryTable> | undefined

  const program = (key: string, make: () => Promise<Runs>): Promise<Runs> => {
    let found = programs.get(key)
    if (found === undefined) programs.set(key, (found = make()))
    return found
  }

  const batchesOf = (
    sequences: readonly Int32Array[],
    predict: (source: number, index: number) => boolean,
    entropyBonus = false,
  ): Batch[] => {
    const rowsOf = (time: number, packed = false): number =>
      batchShape(config, options, time, { packed, entropyBonus }).rows
    return packing === undefined
      ? makeBatches(sequences, rowsOf, predict)
      : makePackedBatches(sequences, packing, rowsOf, predict)
  }

  const batchFeeds = (
    batch: Batch,
    weights: FoldedWeights,
    temperatures: ForwardOptions['temperatures'],
  ): Record<string, HostTensor> => {
    const { time, blocks } = batch
    const size = time / blocks
    const half = headWidth(config) / 2
    const count = batch.rows.length
    const table = (madeTable ??= rotaryTable(config, positions))
    const shape = [batch.count, time]
    const limitsShape = blocks === 1 ? [...shape, time] : [batch.count, blocks, size, time]
    return {
      ...weights,
      tokens: { data: batch.tokens, shape },
      positions: { data: batch.positions, shape },
      cosineTable: { data: table.cosine, shape: [positions, half] },
      sineTable: { data: table.sine, shape: [positions, half] },
      limits: batch.packed
        ? { data: packedLimits(batch), shape: limitsShape }
        : { data: causalLimits(size), shape: [size, size] },
      rows: { data: batch.rows, shape: [count] },
      targets: { data: batch.targets, shape: [count] },
      inverseTemperatures: { data: inverseTemperatures(batch, temperatures), shape: [count] },
    }
  }

  const rowsInto = (batch: Batch): Record<string, HostTensor> => {
    const { embedding, head } = folded.rowWidths
    return {
      ...(embedding && { inputRows: buffers('inputRows', [batch.tokens.length, embedding]) }),
      ...(head && { targetRows: buffers('targetRows', [batch.rows.length, head]) }),
    }
  }

  return {
    gradient,
    async forward(sequences, call = {}) {
      const { signal, temperatures, what = 'logprobs', threads = options.threads } = call
      checkSequences(sequences, config)
      checkTemperatures(sequences, temperatures)
      const weights = fold()
      const results = sequences.map((tokens) => new Float32Array(tokens.length))
      for (const batch of batchesOf(sequences, () => true)) {
        // A long call must not keep others from being heard.
        await yieldToEventLoop()
        signal?.throwIfAborted()
        const { packed, blocks } = batch
        const run = await program(keyOf(what, packed, blocks, threads), () =>
          compileForward(config, { packed, blocks, threads, keepMemory, entropies: what === 'entropies' }),
        )
        const { data } = (await run.run(batchFeeds(batch, weights, temperatures)))[what]
        batch.predicted.forEach(({ source, index }, i) => (results[source][index] = data[i]!))
      }
      return results
    },
    async forwardBackward(sequences, loss, { signal, threads = options.threads } = {}) {
      checkTraining(sequences, loss)
      const tokens = sequences.map((sequence) => sequence.tokens)
      checkSequences(tokens, config)
      const temperatures = sequences.map((sequence) => sequence.temperatures)
      const { entropyCoefficient = 0 } = loss
      const entropyBonus = entropyCoefficient !== 0
      const coefficient = { data: Float32Array.of(entropyCoefficient), shape: [1] }
      const programFor = ({ time, packed, blocks }: Batch): Promise<Runs> => {
        const kind = { packed, blocks, entropyBonus, lowRank }
        const { recompute } = batchShape(config, options, time, kind)
        const make = recompute ? compileRecomputing : compileTraining
        const key = keyOf(loss.name, packed, blocks, entropyBonus, recompute, threads)
        return program(key, () => make(config, loss.name, { ...kind, threads, keepMemory }))
      }
      const counts = (source: number, index: number): boolean => isTrained(sequences[source], index)
      const batches = batchesOf(tokens, counts, entropyBonus)
      const weights = { ...fold(), ...factors?.fold() }
      const sums = createLossSums()
      const oneBatch = async (batch: Batch): Promise<void> => {
        await yieldToEventLoop()
        signal?.throwIfAborted()
        const shape = [batch.rows.length]
        const perToken = (of: (s: TrainingSequence) => Float32Array) => ({
          data: pick(batch, sequences, of),
          shape,
        })
        const inputs = {
          sampled: perToken((s) => s.logprobs),
          advantages: perToken((s) => s.advantages),
          rl: perToken((s) => s.weights.rl),
          ce: perToken((s) => s.weights.ce),
          kl: perToken((s) => s.weights.kl),
        }
        const { sums: before, into } = folded.feeds()
        const run = await programFor(batch)
        const outputs = await run.run(
          {
            ...batchFeeds(batch, weights, temperatures),
            ...before,
            ...inputs,
            inverse: { data: inverseRows(batch), shape: [batch.tokens.length] },
            clipLow: { data: Float32Array.of(loss.clipLow ?? 0.2), shape: [1] },
            clipHigh: { data: Float32Array.of(loss.clipHigh ?? 0.2), shape: [1] },
            ...(entropyBonus && { entropyCoefficient: coefficient }),
          },
          { ...into, ...rowsInto(batch) },
        )
        folded.advance()
        const { embedding, head } = folded.rowWidths
        if (embedding) folded.addRows('embedding', batch.tokens, outputs['inputRows'].data as Float32Array)
        if (head) folded.addRows('head', batch.targets, outputs['targetRows'].data as Float32Array)
        addBatch(sums, loss, outputs, inputs)
      }
      try {
        for (const batch of batches) await oneBatch(batch)
        folded.unfold(parameters, gradient)
      } catch (error) {
        gradient.fill(0)
        throw error
      } finally {
        folded.clear()
      }
      return sums
    },
    async dispose() {
      const made = await Promise.all(programs.values())
      programs.clear()
      await Promise.all(made.map((each) => each.release()))
    },
  }
}

const keyOf = (...parts: readonly (string | number | boolean | undefined)[]): string => parts.join(' ')

function isTrained({ weights }: TrainingSequence, index: number): boolean {
  return weights.rl[index] !== 0 || weights.ce[index] !== 0 || weights.kl[index] !== 0
}
