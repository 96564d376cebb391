import { availableParallelism } from 'node:os'
import { trainSeeds } from 'agoge'
import { alternate } from './alternate.ts'
import type { Measurement } from './alternate.ts'
import type { Measured } from './peer.ts'

const run = { environment: 'cartpole', algorithm: 'ppo', preset: 'cleanrl' } as const
const evaluate = { every: 0, episodes: 100 }
const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length

/** Trains every seed in a process of its own, as many at a time as there are cores. */
async function separately(seeds: readonly number[], steps: number): Promise<number[]> {
  const returns: number[] = []
  let next = 0
  async function worker(): Promise<void> {
    while (next < seeds.length) {
      const at = next++
      const { runs } = await trainSeeds({ ...run, seeds: [seeds[at]], steps, evaluate })
      returns[at] = runs[0].return.mean
    }
  }
  await Promise.all(Array.from({ length: availableParallelism() }, worker))
  return returns
}

async function timed(train: () => Promise<number[]>): Promise<Measured & { returns: number[] }> {
  const begin = performance.now()
  const returns = await train()
  return { seconds: (performance.now() - begin) / 1000, score: mean(returns), returns }
}

interface SeedsBenchmark {
  name: string
  seeds: number
  steps: number
  batched: boolean
  rounds: number
}

/**
 * Many seeds of PPO on CartPole with CleanRL's settings by one call of `trainSeeds`, against as many separate runs on all
 * cores. Wall-clock time of everything, with the start of processes, in environment steps of all seeds per second. Where
 * seeds are not batched, it throws if a seed does not give the same return on both sides.
 */
function againstRuns({ name, seeds: count, steps, batched, rounds }: SeedsBenchmark): Promise<Measurement> {
  const seeds = Array.from({ length: count }, (_, i) => i + 1)
  let many: readonly number[] = []
  return alternate({
    name,
    unit: 'steps/s',
    amount: count,
    count: steps,
    rounds,
    async ours(each) {
      const measured = await timed(async () => {
        const { runs } = await trainSeeds({ ...run, seeds, steps: each, evaluate, batched })
        return runs.map((seed) => seed.return.mean)
      })
      many = measured.returns
      return measured
    },
    peer: {
      async measure(each) {
        const measured = await timed(() => separately(seeds, each))
        const differs = seeds.findIndex((_, i) => measured.returns[i] !== many[i])
        if (batched || differs < 0) return measured
        throw new Error(
          `seed ${seeds[differs]}: ${many[differs]} of many, ${measured.returns[differs]} of a run of its own`,
        )
      },
      close() {},
    },
  })
}

/** 64 seeds of the length of `ppo-cartpole`, batched and one after another, and eight seeds of five times that length. */
export const ppoCartPoleSeeds = async (): Promise<Measurement[]> => [
  await againstRuns({
    name: 'ppo-cartpole-seeds batched',
    seeds: 64,
    steps: 100_000,
    batched: true,
    rounds: 3,
  }),
  await againstRuns({
    name: 'ppo-cartpole-seeds one after another',
    seeds: 64,
    steps: 100_000,
    batched: false,
    rounds: 1,
  }),
  await againstRuns({
    name: 'ppo-cartpole-seeds long',
    seeds: 8,
    steps: 500_000,
    batched: true,
    rounds: 1,
  }),
]
