import type { OnTrainingEvent } from '../events.ts'
import { contextOptions } from './context-settings.ts'
import { findRun } from './find.ts'
import type { NamedRun } from './seeds-types.ts'
import { trainArray } from './train-array.ts'
import type { ArraySummary } from './types.ts'
import { worldFileOf } from './world-file.ts'

export interface TrainNamedOptions extends NamedRun {
  seed: number
  out: string
  resume: boolean
  command: string
  onEvent?: OnTrainingEvent
  signal?: AbortSignal
}

/** `trainArray` for a world and an algorithm by name, or a world of a module; the agent stays in the run folder. */
export async function trainNamed(options: TrainNamedOptions): Promise<ArraySummary> {
  const { world, playable, algorithm, slots, settings } = findRun(options, await worldFileOf(options.world))
  const { steps, seed, evaluate, out, resume, command, onEvent, signal } = options
  const { summary, agent } = await trainArray({
    world: playable,
    algorithm,
    slots,
    settings: { ...settings },
    steps,
    seed,
    out,
    resume,
    command,
    ...contextOptions(world, settings.contexts, seed),
    ...(evaluate === undefined ? {} : { evaluate }),
    ...(onEvent === undefined ? {} : { onEvent }),
    ...(signal === undefined ? {} : { signal }),
  })
  await agent.dispose()
  return summary
}
