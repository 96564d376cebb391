import type { Command } from 'commander'
import { AgogeError } from '../../error.ts'
import { isEnvironmentFile } from '../../classic/training/environment-file.ts'
import { namedEnvironments } from '../../classic/environments/catalogue.ts'
import { hasTextTasks, readToolEnvironment, unknownEnvironment } from '../shared/environment-names.ts'
import {
  environmentKind,
  type EnvironmentKind,
  refuseForeignOptions,
  typedOptions,
} from '../shared/options.ts'
import { refuseChanges, runKind, runToResume } from '../shared/runs.ts'

/** True if the environment is one of classic RL. */
async function isArrayCommand(environment: string, resume?: string | true): Promise<boolean> {
  if (resume === undefined)
    return !hasTextTasks(environment) && (await readToolEnvironment(environment)) === undefined
  const folder = runToResume(resume)
  return folder !== undefined && ['array', 'seeds'].includes(runKind(folder) ?? '')
}

/**
 * Returns whether the command is one of classic RL. Checks its options and the name of its environment first.
 *
 * @throws AgogeError for options of the other kind of environment, or an unknown name (with the list of all
 * environments).
 */
export async function isClassicEnvironment(
  environment: string,
  command: Command,
  resume?: string | true,
): Promise<boolean> {
  const isArray = await isArrayCommand(environment, resume)
  if (resume !== undefined) {
    if (isArray)
      refuseChanges(runToResume(resume) ?? '', { typed: typedOptions(command), environment: command.args[0] })
    return isArray
  }
  if (isArray) await requireClassicEnvironment(environment)
  refuseForeignOptions(command, environment, isArray ? 'classic' : toolKind(environment))
  return isArray
}

/** A module that is not classic RL defines an environment with tools. */
function toolKind(environment: string): EnvironmentKind {
  const kind = environmentKind(environment)
  return kind === 'module' ? 'tool' : kind
}

/**
 * Checks the name of an environment. Modules are read later.
 *
 * @throws AgogeError with the list of classic environments, or of all kinds if no kind has the name.
 */
export async function requireClassicEnvironment(name: string): Promise<void> {
  if (Object.hasOwn(namedEnvironments, name)) return
  if (hasTextTasks(name) || (await readToolEnvironment(name)) !== undefined) {
    throw new AgogeError(`${name} has tasks in words, not arrays of numbers`, {
      code: 'unknown-environment',
      given: name,
      expected: `one of ${Object.keys(namedEnvironments).join(', ')}`,
      hint: `To watch a model there: agoge chat ${name}`,
    })
  }
  if (isEnvironmentFile(name)) return
  throw unknownEnvironment({ environment: name }, Object.keys(namedEnvironments))
}
