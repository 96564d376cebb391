import { resolve } from 'node:path'
import type { ArrayAgent } from '../../algorithm/arrays/index.ts'
import { createVectorEnvironment } from '../../environment/index.ts'
import type { World } from '../../environment/index.ts'
import { AgogeError } from '../../error.ts'
import { openRunFolder } from '../run-folder.ts'
import { restoreAgent } from './check-state.ts'
import { noContexts } from './context-settings.ts'
import type { ContextSettings } from './context-settings.ts'
import { findRun } from './find.ts'
import type { FoundRun } from './find.ts'
import { readRun } from './run-record.ts'

/** A trained agent, the world as it sees it, and what it was trained in. */
export interface LoadedAgent {
  world: World
  agent: ArrayAgent
  seed: number
  contexts: ContextSettings
}

/**
 * The agent of a run folder, as its last checkpoint left it; dispose of it in the end.
 *
 * @param expected name of the world it is to act in.
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
  if (expected !== undefined && expected !== name) {
    throw new AgogeError(`The agent in ${path} was trained on ${name}, not on ${expected}`, {
      code: 'checkpoint-mismatch',
      given: `world: ${name}`,
      expected: `world: ${expected}`,
    })
  }
  const run = findRun({ world: name, slots, ...settings })
  const environment = createVectorEnvironment(run.world, { slots, seed })
  environment.reset()
  const agent = await run.algorithm(environment, { seed, totalSteps: steps })
  try {
    restoreAgent(agent, state as { agent: unknown }, { path, world: name })
  } catch (error) {
    await agent.dispose()
    throw error
  }
  return { world: run.world, agent, seed, contexts: settings.contexts ?? noContexts }
}
