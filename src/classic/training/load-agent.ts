import { basename, dirname, resolve } from 'node:path'
import type { ClassicAgent } from '../algorithm/agent.ts'
import { openVector } from '../environment/index.ts'
import type { Playable, EnvironmentDefinition } from '../environment/index.ts'
import { AgogeError } from '../../error.ts'
import { openRunFolder } from '../../runs/run-folder.ts'
import { readRun, restoreAgent } from './run-record.ts'
import { noContexts } from './context-settings.ts'
import type { ContextSettings } from './context-settings.ts'
import type { FoundRun } from './find-run.ts'
import { isEnvironmentFile, environmentFileOf } from './environment-file.ts'

/** A trained agent, the environment as the agent sees it, and the environment of training. */
export interface LoadedAgent {
  definition: EnvironmentDefinition
  /** The environment that it plays in: the definition, or the user's objects. */
  playable: Playable
  agent: ClassicAgent
  seed: number
  contexts: ContextSettings
}

/**
 * Loads the agent from the last checkpoint of a run folder, or from `RUN/checkpoints/NAME`, for example that of
 * the best evaluation. Call `agent.dispose()` when done.
 *
 * @param expected name or module of the environment that the agent must belong to.
 * @throws AgogeError if there is no checkpoint, or if it belongs to another environment.
 * @example
 * const { agent, playable } = await loadAgent('runs/cartpole', 'cartpole')
 * const { returns } = await evaluateAgent(agent, playable, { episodes: 20 })
 * await agent.dispose()
 */
export async function loadAgent(path: string, expected?: string): Promise<LoadedAgent> {
  if (/^https?:/.test(path)) {
    throw new AgogeError(
      'An endpoint of a language model cannot act in an environment over arrays of numbers',
      {
        code: 'no-model',
        given: path,
        expected: 'the run folder of a trained agent',
        hint: 'agoge eval filesystem --model URL#NAME asks an endpoint',
      },
    )
  }
  const { run: folder, checkpoint } = splitCheckpoint(resolve(path))
  const { config, learner } = readRun(openRunFolder({ path: folder }), checkpoint)
  const {
    environment: name,
    numEnvs,
    seed,
    steps,
    settings,
  } = config as {
    environment: string
    numEnvs: number
    seed: number
    steps: number
    settings: FoundRun['settings']
  }
  const file = await environmentFileOf(
    expected !== undefined && isEnvironmentFile(expected) ? expected : (settings.file ?? name),
  )
  const wanted = file?.definition.name ?? expected
  if (wanted !== undefined && wanted !== name) {
    throw new AgogeError(`The agent in ${path} was trained on ${name}, not on ${wanted}`, {
      code: 'checkpoint-mismatch',
      given: `environment: ${name}`,
      expected: `environment: ${wanted}`,
    })
  }
  // Loaded on demand, because it loads every environment and every algorithm.
  const { findRun } = await import('./find-run.ts')
  const run = findRun({ environment: name, numEnvs, ...settings }, file)
  const environment = await openVector(run.playable, { numEnvs, seed })
  await environment.close()
  const agent = await run.algorithm(environment, { seed, totalSteps: steps })
  try {
    restoreAgent(agent, learner, { path, environment: name })
  } catch (error) {
    await agent.dispose()
    throw error
  }
  return {
    definition: run.definition,
    playable: run.playable,
    agent,
    seed,
    contexts: settings.contexts ?? noContexts,
  }
}

/** The run folder that contains a path, and the name of the checkpoint if the path names one. */
function splitCheckpoint(path: string): { run: string; checkpoint?: string } {
  if (basename(dirname(path)) !== 'checkpoints') return { run: path }
  return { run: dirname(dirname(path)), checkpoint: basename(path) }
}
