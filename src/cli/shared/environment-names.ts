import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { isEnvironmentFile } from '../../classic/training/environment-file.ts'
import { closestName } from '../../closest-name.ts'
import { AgogeError } from '../../error.ts'
import { importFile } from '../../import-file.ts'
import { isToolEnvironmentDefinition, toolEnvironments } from '../../llm/environment/catalogue.ts'
import type { CatalogueEntry } from '../../llm/environment/catalogue.ts'
import type { DefinedToolEnvironment } from '../../llm/environment/definition/define-tool-environment.ts'
import { listServers } from '../../llm/tool/server-config.ts'
import { namedEnvironments } from '../../classic/environments/catalogue.ts'
import { environmentKind, refuseForeignOptions, typedOptions } from './options.ts'
import type { EnvironmentKind } from './options.ts'
import { refuseChanges, runKind, runToResume } from './runs.ts'

/** True if the name is one of an environment for language models. */
export const hasTextTasks = (environment: string): boolean =>
  Object.hasOwn(toolEnvironments, environment) || environment.startsWith('mcp:')

/** Returns the text game that a person can play, if the environment has one. */
export const gameOf = (name: string): CatalogueEntry['game'] =>
  Object.hasOwn(toolEnvironments, name) ? toolEnvironments[name].game : undefined

/**
 * Returns the environment that a module defines with `defineToolEnvironment`. Returns undefined for a name, and for
 * other modules, which classic RL reads or reports.
 */
export async function readToolEnvironment(name: string): Promise<DefinedToolEnvironment | undefined> {
  if (!isEnvironmentFile(name) || !existsSync(name)) return undefined
  const module = await importFile(resolve(name)).catch(() => undefined)
  const found = module?.environment ?? module?.default
  return isToolEnvironmentDefinition(found) ? found : undefined
}

/** Makes the error for an unknown name. `others` are further names to suggest. */
export function unknownEnvironment(
  { environment: name, mcpConfig }: { environment: string; mcpConfig?: string },
  others: readonly string[] = [],
): AgogeError {
  const { names } = listServers(mcpConfig === undefined ? {} : { file: mcpConfig })
  const known = [...Object.keys(toolEnvironments), ...names.map((server) => `mcp:${server}`), ...others]
  const meant = closestName(name, known) ?? known.find((environment) => environment === `mcp:${name}`)
  return new AgogeError(`There is no environment named "${name}".`, {
    code: 'unknown-environment',
    given: name,
    expected: `one of ${known.join(', ')}, or mcp:NAME for a server of your .mcp.json`,
    ...(meant === undefined ? {} : { hint: `Did you mean "${meant}"?` }),
  })
}

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
