import { fork } from 'node:child_process'
import { once } from 'node:events'
import { availableParallelism } from 'node:os'
import { fileURLToPath } from 'node:url'
import { trainSeeds } from 'agoge'
import { alternate } from './alternate.ts'
import type { Measurement } from './alternate.ts'
import type { Measured } from './peer.ts'
import type { SeparateRun } from './separate-seed.ts'

const run = { environment: 'cartpole', algorithm: 'ppo', preset: 'cleanrl' } as const
const evaluate = { every: 0, episodes: 100 }
const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

/** Trains one seed in a process of its own. Returns the mean return of its final greedy policy. */
type TrainAlone = (seed: number, steps: number) => Promise<number>

/** With TypeScript loaded at the start, as the gates trained each seed before `trainSeeds` took many. */
const asScript: TrainAlone = async (seed, steps) => {
  const file = fileURLToPath(new URL('./separate-seed.ts', import.meta.url))
  const child = fork(file, { execArgv: process.execArgv })
  child.send({ ...run, seed, steps, evaluate } satisfies SeparateRun)
  const [found] = (await once(child, 'message')) as [number]
  return found
}

/** The compiled library, which starts fastest. */
const asCompiled: TrainAlone = async (seed, steps) =>
  (await trainSeeds({ ...run, seeds: [seed], steps, evaluate })).runs[0].return.mean

/** Trains every seed in a process of its own, as many at a time as there are cores. */
async function separately(train: TrainAlone, seeds: readonly number[], steps: number): Promise<number[]> {
  const returns: number[] = []
  let next = 0
  async function worker(): Promise<void> {
    while (next < seeds.length) {
      const at = next++
      returns[at] = await train(seeds[at], steps)
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, worker))
  return returns
}

interface SeedsBenchmark {
  name: string
  seeds: number
  steps: number
  alone: TrainAlone
  rounds?: number
}

/**
 * Many seeds of PPO on CartPole with CleanRL's settings by one call of `trainSeeds`, against as many separate runs on all
 * cores. Wall-clock time of everything, with the start of processes, in environment steps of all seeds per second. Throws
 * if a seed does not give the same return on both sides.
 */
function againstRuns({ name, seeds: count, steps, alone, rounds = 3 }: SeedsBenchmark): Promise<Measurement> {
  const seeds = Array.from({ length: count }, (_, i) => i + 1)
  let many: readonly number[] = []
  async function timed(
    train: () => Promise<readonly number[]>,
  ): Promise<Measured & { returns: readonly number[] }> {
    const begin = performance.now()
    const returns = await train()
    return { seconds: (performance.now() - begin) / 1000, score: mean(returns), returns }
  }
  return alternate({
    name,
    unit: 'steps/s',
    amount: count,
    count: steps,
    rounds,
    async ours(each) {
      const measured = await timed(async () => {
        const { runs } = await trainSeeds({ ...run, seeds, steps: each, evaluate })
        return runs.map((seed) => seed.return.mean)
      })
      many = measured.returns
      return measured
    },
    peer: {
      async measure(each) {
        const measured = await timed(() => separately(alone, seeds, each))
        const differs = seeds.findIndex((_, i) => measured.returns[i] !== many[i])
        if (differs < 0) return measured
        throw new Error(
          `seed ${seeds[differs]}: ${many[differs]} of many, ${measured.returns[differs]} of a run of its own`,
        )
      },
      close() {},
    },
  })
}

/**
 * 64 seeds of the length of `ppo-cartpole`, against both kinds of separate runs; and eight seeds of five times that
 * length, in which the start of a process matters less.
 */
export const ppoCartPoleSeeds = async (): Promise<Measurement[]> => [
  await againstRuns({ name: 'ppo-cartpole-seeds', seeds: 64, steps: 100_000, alone: asScript, rounds: 1 }),
  await againstRuns({ name: 'ppo-cartpole-seeds compiled', seeds: 16, steps: 100_000, alone: asCompiled }),
  await againstRuns({
    name: 'ppo-cartpole-seeds long',
    seeds: 8,
    steps: 500_000,
    alone: asScript,
    rounds: 1,
  }),
]
