import type { TrainingSequence } from '../episode/types.ts'
import { addInChunks } from '../tensor/index.ts'
import type { LossReport, LossSettings } from './backend.ts'
import { checkSequences, checkTemperatures, checkTraining } from './check-sequences.ts'
import { createLearner } from './learner.ts'
import type { Learner, LearnerOptions } from './learner.ts'
import { lossReport } from './loss-report.ts'
import { packSequences } from './packed-sequences.ts'
import { allParts } from './threads.ts'
import type { Helper, Threads } from './threads.ts'

export interface ParallelLearner extends Omit<Learner, 'forwardBackward'> {
  forwardBackward(
    sequences: readonly TrainingSequence[],
    loss: LossSettings,
    signal?: AbortSignal,
  ): Promise<LossReport>
}

/**
 * A learner over threads, each with sequences and sessions of its own, whose gradients are added in the order of the
 * threads. What comes out depends on the sequences and the number of threads only.
 */
export function createParallelLearner(
  options: Omit<LearnerOptions, 'threads' | 'gradient'> & { threads: Threads },
): ParallelLearner {
  const { config, threads } = options
  const own = createLearner({ ...options, threads: 1 })

  /** Runs every part that has sequences: the first here, the others in threads. */
  async function inParts<T, R>(
    sequences: readonly T[],
    tokensOf: (sequence: T) => Int32Array,
    here: (part: T[]) => Promise<R>,
    there: (helper: Helper, part: T[]) => Promise<R>,
  ): Promise<{ places: number[]; result: R }[]> {
    const deals = deal(
      sequences.map((sequence) => tokensOf(sequence).length),
      threads.count,
    )
    const helpers = deals.length === 1 ? [] : threads.helpers()
    const running = deals.map(async (places, i) => {
      const part = places.map((place) => sequences[place])
      return { places, result: await (i === 0 ? here(part) : there(helpers[i - 1], part)) }
    })
    await allParts(running)
    return Promise.all(running)
  }

  return {
    gradient: own.gradient,
    async forward(sequences, signal, temperatures, what) {
      checkSequences(sequences, config)
      checkTemperatures(sequences, temperatures)
      const rows = sequences.map((tokens, i) => ({ tokens, temperatures: temperatures?.[i] }))
      const parts = await inParts(
        rows,
        ({ tokens }) => tokens,
        (part) =>
          own.forward(
            part.map(({ tokens }) => tokens),
            signal,
            part.map((row) => row.temperatures),
            what,
          ),
        (helper, part) => {
          // Copied, since a message carries the whole buffer that a view is of.
          const asked = {
            sequences: part.map(({ tokens }) => tokens.slice()),
            temperatures: part.map((row) => row.temperatures?.slice()),
            ...(what === undefined ? {} : { what }),
          }
          return helper.ask('forward', asked, signal)
        },
      )
      const results: Float32Array[] = []
      for (const { places, result } of parts) result.forEach((values, i) => (results[places[i]] = values))
      return results
    },
    async forwardBackward(sequences, loss, signal) {
      checkTraining(sequences, loss)
      checkSequences(
        sequences.map(({ tokens }) => tokens),
        config,
      )
      const helped: Helper[] = []
      try {
        const parts = await inParts(
          sequences,
          ({ tokens }) => tokens,
          (part) => own.forwardBackward(part, loss, signal),
          (helper, part) => {
            helped.push(helper)
            return helper.ask('forwardBackward', { sequences: packSequences(part), loss }, signal)
          },
        )
        for (const { gradient } of helped) addInChunks(own.gradient, gradient)
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

/**
 * Places of sequences, dealt out so that parts have about as many tokens: the longest first, each to the part that has
 * least. Parts without any are left out.
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
