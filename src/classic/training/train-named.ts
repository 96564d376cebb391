import type { OnTrainingEvent } from '../../runs/events.ts'
import { contextOptions } from './context-settings.ts'
import { findRun } from './find.ts'
import type { NamedRun } from './seeds-types.ts'
import { trainClassic } from './train-array.ts'
import type { ClassicSummary } from './types.ts'
import { environmentFileOf } from './environment-file.ts'

export interface TrainNamedOptions extends NamedRun {
  seed: number
  out: string
  resume: boolean
  command: string
  onEvent?: OnTrainingEvent
  signal?: AbortSignal
}

/** `trainClassic` for an environment and an algorithm by name, or an environment of a module; the agent stays in the run folder. */
export async function trainNamed(options: TrainNamedOptions): Promise<ClassicSummary> {
  const { definition, playable, algorithm, numEnvs, settings } = findRun(
    options,
    await environmentFileOf(options.environment),
  )
  const { steps, seed, evaluate, out, resume, command, onEvent, signal } = options
  const { summary, agent } = await trainClassic({
    definition: playable,
    algorithm,
    numEnvs,
    settings: { ...settings },
    steps,
    seed,
    out,
    resume,
    command,
    ...contextOptions(definition, settings.contexts, seed),
    ...(evaluate === undefined ? {} : { evaluate }),
    ...(onEvent === undefined ? {} : { onEvent }),
    ...(signal === undefined ? {} : { signal }),
  })
  await agent.dispose()
  return summary
}
