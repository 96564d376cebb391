import { closestName } from '../../closest-name.ts'
import { AgogeError } from '../../error.ts'
import { listServers } from '../../llm/tool/read-server-config.ts'

/** The error for a name that no environment has; `others` can be meant too. */
export function unknownEnvironment(
  { environment: name, mcpConfig }: { environment: string; mcpConfig?: string },
  others: readonly string[] = [],
): AgogeError {
  const { names } = listServers(mcpConfig === undefined ? {} : { file: mcpConfig })
  const known = ['filesystem', 'reasoning', 'adventure', ...names.map((server) => `mcp:${server}`), ...others]
  const meant = closestName(name, known) ?? known.find((environment) => environment === `mcp:${name}`)
  return new AgogeError(`There is no environment named "${name}".`, {
    code: 'unknown-environment',
    given: name,
    expected: `one of ${known.join(', ')}, or mcp:NAME for a server of your .mcp.json`,
    ...(meant === undefined ? {} : { hint: `Did you mean "${meant}"?` }),
  })
}
