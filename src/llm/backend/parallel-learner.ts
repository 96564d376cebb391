import { defined } from '../../defined.ts'
import { yieldToEventLoop } from '../../event-loop.ts'
import type { TrainingSequence } from '../episode/types.ts'
import { addInChunks } from '../../engine/tensor/index.ts'
import type { LossReport, LossSettings } from '../model-backend.ts'
import { packRows, packSequences, type Row, splitValues } from './packed-sequences.ts'
import { checkSequences, checkTemperatures, checkTraining } from './sequences.ts'
import { createLearner } from './learner.ts'
import type { LearnerCall, LearnerForward, LearnerOptions } from './learner.ts'
import { lossReport } from './loss-report.ts'
import { parameterLayout } from '../model/parameters.ts'
import { allParts } from './threads.ts'
import type { Helper, Threads, Work } from './threads.ts'

/**
 * From this many parameters on, a single micro-batch is not split over threads. At 8 x 128 tokens, threads inside the
 * operators took 1.07 of the time at 0.9M parameters, 0.97 at 2.5M, 0.90 at 5M and 0.92 at 26M.
 */
const dealtSize = 2e6

export interface ParallelLearner {
  /** As of a learner. */
  gradient: Float32Array
  forward(
    sequences: readonly Int32Array[],
    options?: Omit<LearnerForward, 'threads'>,
  ): Promise<Float32Array[]>
  forwardBackward(
    sequences: readonly TrainingSequence[],
    loss: LossSettings,
    options?: Omit<LearnerCall, 'threads'>,
  ): Promise<LossReport>
  dispose(): Promise<void>
}

/**
 * A learner over threads. Each thread has its own sequences and sessions, and gradients are summed in the order of the
 * threads. A single sequence, or a batch that `isDealt` does not split, uses threads inside its operators. Results
 * depend only on the sequences and the number of threads.
 */
export function createParallelLearner(
  options: Omit<LearnerOptions, 'threads' | 'gradient'> & { threads: Threads },
): ParallelLearner {
  const { config, threads } = options
  const own = createLearner({ ...options, threads: 1 })
  const large = parameterLayout(config).size >= dealtSize

  /**
   * Whether to split sequences over the threads. For a large model and one micro-batch, summing gradients costs more
   * than it saves.
   */
  function isDealt(lengths: readonly number[]): boolean {
    return !(large && lengths.reduce((sum, length) => sum + length - 1, 0) <= options.tokenBudget)
  }

  /**
   * Runs every non-empty part in its thread. A single part has threads inside its operators.
   */
  async function inParts<T, R>(
    sequences: readonly T[],
    tokensOf: (sequence: T) => Int32Array,
    here: (part: T[], threads: number) => Promise<R>,
    there: (helper: Helper, part: T[], threads: number) => Promise<R>,
  ): Promise<{ places: number[]; result: R }[]> {
    const lengths = sequences.map((sequence) => tokensOf(sequence).length)
    const deals = deal(lengths, isDealt(lengths) ? threads.count : 1)
    const inside = deals.length === 1 ? threads.count : 1
    const running = deals.map(async (places, i) => {
      // Each part is packed in a turn of the event loop of its own.
      for (let turn = 0; turn < i; turn++) await yieldToEventLoop()
      const part = places.map((place) => sequences[place])
      const helper = threads.helperOf(i)
      const result = helper === undefined ? here(part, inside) : there(helper, part, inside)
      return { places, result: await result }
    })
    await allParts(running)
    return Promise.all(running)
  }

  return {
    gradient: own.gradient,
    async forward(sequences, { signal, temperatures, what } = {}) {
      // Ten thousand sequences take a while to be checked, and to be packed.
      checkSequences(sequences, config)
      await yieldToEventLoop()
      checkTemperatures(sequences, temperatures)
      await yieldToEventLoop()
      const rows = sequences.map((tokens, i) => ({ tokens, temperatures: temperatures?.[i] }))
      const parts = await inParts(
        rows,
        ({ tokens }) => tokens,
        (part, inside) =>
          own.forward(
            part.map(({ tokens }) => tokens),
            { signal, temperatures: part.map((row) => row.temperatures), what, threads: inside },
          ),
        (helper, part, inside) => askForward(helper, part, { threads: inside, ...defined({ what }) }, signal),
      )
      const results: Float32Array[] = []
      for (const { places, result } of parts) result.forEach((values, i) => (results[places[i]] = values))
      return results
    },
    async forwardBackward(sequences, loss, { signal } = {}) {
      checkTraining(sequences, loss)
      await yieldToEventLoop()
      checkSequences(
        sequences.map(({ tokens }) => tokens),
        config,
      )
      await yieldToEventLoop()
      const helped: Helper[] = []
      const first = threads.helperOf(0)
      try {
        const parts = await inParts(
          sequences,
          ({ tokens }) => tokens,
          (part, inside) => own.forwardBackward(part, loss, { signal, threads: inside }),
          (helper, part, inside) => {
            helped.push(helper)
            // What was accumulated before is added to in the same order as in this thread.
            if (helper === first) helper.gradient.set(own.gradient)
            const asked = { sequences: packSequences(part), loss, threads: inside }
            return helper.ask('forwardBackward', asked, signal)
          },
        )
        for (const helper of helped)
          if (helper === first) own.gradient.set(helper.gradient)
          else addInChunks(own.gradient, helper.gradient)
        return lossReport(parts.map(({ result }) => result))
      } catch (error) {
        own.gradient.fill(0)
        throw error
      } finally {
        for (const { gradient } of helped) gradient.fill(0)
      }
    },
    dispose: () => own.dispose(),
  }
}

/** Asks a thread for the values of each row. */
export async function askForward(
  helper: Helper,
  rows: readonly Row[],
  options: Omit<Work['forward']['ask'], 'rows'>,
  signal: AbortSignal | undefined,
): Promise<Float32Array[]> {
  const packed = packRows(rows)
  return splitValues(await helper.ask('forward', { rows: packed, ...options }, signal), packed.lengths)
}

/**
 * Splits sequence indices into parts with about equal numbers of tokens: longest first, each to the smallest part.
 * Omits empty parts.
 */
function deal(lengths: readonly number[], parts: number): number[][] {
  const loads = Array.from({ length: parts }, () => 0)
  const dealt = loads.map((): number[] => [])
  const order = lengths.map((_, place) => place).sort((a, b) => lengths[b] - lengths[a] || a - b)
  for (const place of order) {
    const part = loads.indexOf(Math.min(...loads))
    loads[part] += lengths[place]
    dealt[part].push(place)
  }
  return dealt.filter((places, part) => part === 0 || places.length > 0)
}
