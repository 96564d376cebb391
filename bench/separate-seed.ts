import { trainClassic } from 'agoge'
import { findRun } from 'agoge/classic'

/** The run that the process receives. */
export interface SeparateRun {
  environment: string
  algorithm: string
  preset: string
  steps: number
  seed: number
  evaluate: { every: number; episodes: number }
}

// One seed in its own process: receives the run, answers with the mean return, and exits.
process.once('message', (run: SeparateRun) => void train(run))

async function train({ seed, steps, evaluate, ...named }: SeparateRun): Promise<void> {
  const { definition, algorithm, numEnvs } = findRun(named)
  const { summary, agent } = await trainClassic({ definition, algorithm, numEnvs, steps, seed, evaluate })
  await agent.dispose()
  process.send?.(summary.return.mean, () => process.exit(0))
}
