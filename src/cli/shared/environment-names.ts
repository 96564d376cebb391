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
