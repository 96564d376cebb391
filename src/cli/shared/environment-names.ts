import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { isEnvironmentFile } from '../../classic/training/environment-file.ts'
import { closestName } from '../../closest-name.ts'
import { AgogeError } from '../../error.ts'
import { importFile } from '../../import-file.ts'
import { isToolEnvironmentDefinition, toolEnvironments } from '../../llm/environment/catalogue.ts'
import type { CatalogueEntry } from '../../llm/environment/catalogue.ts'
import type { DefinedToolEnvironment } from '../../llm/environment/definition/define-tool-environment.ts'
import { listServers } from '../../llm/tool/server-config.ts'

/** Whether a name is of an environment whose tasks are in words: such an environment is for language models. */
export const hasTextTasks = (environment: string): boolean =>
  Object.hasOwn(toolEnvironments, environment) || environment.startsWith('mcp:')

/** How the environment is played by a person, where it can be. */
export const gameOf = (name: string): CatalogueEntry['game'] =>
  Object.hasOwn(toolEnvironments, name) ? toolEnvironments[name].game : undefined

/**
 * The environment that a module defines with `defineToolEnvironment`; undefined for a name, and for a module of another kind, which classic RL
 * reads or reports.
 */
export async function readToolEnvironment(name: string): Promise<DefinedToolEnvironment | undefined> {
  if (!isEnvironmentFile(name) || !existsSync(name)) return undefined
  const module = await importFile(resolve(name)).catch(() => undefined)
  const found = module?.environment ?? module?.default
  return isToolEnvironmentDefinition(found) ? found : undefined
}

/** The error for a name that no environment has; `others` can be meant too. */
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
