import { resolve } from 'node:path'
import type { ArrayAgent } from '../../algorithm/arrays/index.ts'
import { openVector } from '../../environment/index.ts'
import type { Playable, World } from '../../environment/index.ts'
import { AgogeError } from '../../error.ts'
import { openRunFolder } from '../run-folder.ts'
import { restoreAgent } from './check-state.ts'
import { noContexts } from './context-settings.ts'
import type { ContextSettings } from './context-settings.ts'
import { findRun } from './find.ts'
import type { FoundRun } from './find.ts'
import { readRun } from './run-record.ts'
import { isWorldFile, worldFileOf } from './world-file.ts'

/** A trained agent, the world as it sees it, and what it was trained in. */
export interface LoadedAgent {
  world: World
  /** What it plays in: the same, or objects. */
  playable: Playable
  agent: ArrayAgent
  seed: number
  contexts: ContextSettings
}

/**
 * The agent of a run folder, as its last checkpoint left it; dispose of it in the end.
 *
 * @param expected name of the world it is to act in, or its module.
 * @throws AgogeError where there is none, or one of another world.
 */
export async function loadAgent(path: string, expected?: string): Promise<LoadedAgent> {
  if (/^https?:/.test(path)) {
    throw new AgogeError('An endpoint of a language model cannot act in a world over arrays of numbers', {
      code: 'no-model',
      given: path,
      expected: 'the run folder of a trained agent',
      hint: 'agoge eval filesystem --model URL#NAME asks an endpoint',
    })
  }
  const { identity, state } = readRun(openRunFolder({ path: resolve(path) }))
  const {
    world: name,
    slots,
    seed,
    steps,
    settings,
  } = identity as {
    world: string
    slots: number
    seed: number
    steps: number
    settings: FoundRun['settings']
  }
  const file = await worldFileOf(
    expected !== undefined && isWorldFile(expected) ? expected : (settings.file ?? name),
  )
  const wanted = file?.world.name ?? expected
  if (wanted !== undefined && wanted !== name) {
    throw new AgogeError(`The agent in ${path} was trained on ${name}, not on ${wanted}`, {
      code: 'checkpoint-mismatch',
      given: `world: ${name}`,
      expected: `world: ${wanted}`,
    })
  }
  const run = findRun({ world: name, slots, ...settings }, file)
  const environment = await openVector(run.playable, { slots, seed })
  await environment.close()
  const agent = await run.algorithm(environment, { seed, totalSteps: steps })
  try {
    restoreAgent(agent, state as { agent: unknown }, { path, world: name })
  } catch (error) {
    await agent.dispose()
    throw error
  }
  return { world: run.world, playable: run.playable, agent, seed, contexts: settings.contexts ?? noContexts }
}
