import { trainClassic } from 'agoge'
import { findRun } from 'agoge/classic'
import { alternate } from './alternate.ts'
import type { Measurement } from './alternate.ts'
import { betterPeer } from './peer.ts'

/** A training of `steps` environment steps with named settings, against a peer with the same settings. */
export interface TrainingBenchmark {
  name: string
  environment: string
  algorithm: string
  preset: string
  steps: number
  /** Steps of a trial to choose the peer's number of threads. */
  warmup: number
  /** A script of `bench/peers/`, and its arguments after the threads. */
  peer: string
  peerArguments?: readonly string[]
}

/**
 * Whole trainings from scratch in environment steps per second, with compilation and without evaluation. The score is the mean
 * return of 100 episodes of the final greedy policy, averaged over the rounds. Each round has its own seed. Both sides use the
 * better of 1 and 2 threads.
 */
export async function trainAgainstPeer(benchmark: TrainingBenchmark): Promise<Measurement> {
  const { name, environment, algorithm, preset, steps, warmup, peer, peerArguments = [] } = benchmark
  let seed = 0
  async function train(count: number, threads: number) {
    const begin = performance.now()
    const run = findRun({ environment, algorithm, preset })
    const { summary, agent } = await trainClassic({
      definition: run.definition,
      algorithm: run.algorithm,
      numEnvs: run.numEnvs,
      steps: count,
      seed: seed++,
      threads,
      evaluate: { every: 0, episodes: 100 },
    })
    const seconds = (performance.now() - begin) / 1000 - summary.evaluationSeconds
    await agent.dispose()
    return { seconds, score: summary.return.mean }
  }
  await train(warmup, 1)
  // As long as the measured run: starting a second thread takes time, which counts.
  const tried = { 1: Infinity, 2: Infinity }
  for (const threads of [1, 2, 1, 2] as const) {
    seed = 0
    tried[threads] = Math.min(tried[threads], (await train(steps, threads)).seconds)
  }
  const threads = tried[2] < tried[1] ? 2 : 1
  console.error(
    `${name}: ${threads === 2 ? 'two threads' : 'one thread'} (${tried[1].toFixed(1)} s with one, ${tried[2].toFixed(1)} s with two)`,
  )
  seed = 0
  return alternate({
    name,
    unit: 'steps/s',
    amount: 1,
    count: steps,
    ours: (count) => train(count, threads),
    peer: await betterPeer(peer, warmup, peerArguments),
  })
}
