import { basename, dirname, resolve } from 'node:path'
import type { ClassicAgent } from '../algorithm/agent.ts'
import { openVector } from '../environment/index.ts'
import type { Playable, EnvironmentDefinition } from '../environment/index.ts'
import { AgogeError } from '../../error.ts'
import { openRunFolder } from '../../runs/run-folder.ts'
import { readRun, restoreAgent } from './run-record.ts'
import { noContexts } from './context-settings.ts'
import type { ContextSettings } from './context-settings.ts'
import { findRun, type FoundRun } from './find-run.ts'
import { isEnvironmentFile, environmentFileOf } from './environment-file.ts'

/** A trained agent, the environment as it sees it, and what it was trained in. */
export interface LoadedAgent {
  definition: EnvironmentDefinition
  /** What it plays in: the same, or objects. */
  playable: Playable
  agent: ClassicAgent
  seed: number
  contexts: ContextSettings
}

/**
 * The agent of a run folder as its last checkpoint left it, or of `RUN/checkpoints/NAME`, such as that of the best evaluation; dispose
 * of it in the end.
 *
 * @param expected name of the environment it is to act in, or its module.
 * @throws AgogeError where there is none, or one of another environment.
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

/** The run folder that a path is in, and the name of a checkpoint where it names one. */
function splitCheckpoint(path: string): { run: string; checkpoint?: string } {
  if (basename(dirname(path)) !== 'checkpoints') return { run: path }
  return { run: dirname(dirname(path)), checkpoint: basename(path) }
}
