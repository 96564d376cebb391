import { readForeignFile } from '../../../untrusted/foreign-file.ts'
import { parseOwnJson } from '../../../untrusted/own-json.ts'
import { createRedactor } from '../../tool/redact.ts'
import { listServers, type ReadConfigOptions, readServerConfig } from '../../tool/server-config.ts'
import { isRecord } from '../../../untrusted/schema-check.ts'
import { type McpEnvironmentConfig, parseEnvironmentConfig } from './environment-config.ts'
import type { McpEnvironment, McpEnvironmentOptions } from './mcp-environment.ts'
import { installedServer } from './server/installed.ts'

/**
 * Reads the `agoge` entry of a server, beside `mcpServers` in the same file. It says how the state is reset and
 * observed. Without one the server is a live system that is only read.
 *
 * @throws AgogeError with the file and the invalid field.
 */
function readEnvironmentConfig(name: string, options: ReadConfigOptions = {}): McpEnvironmentConfig {
  const { file } = listServers(options)
  if (file === undefined) return parseEnvironmentConfig(undefined, name)
  const whole = parseOwnJson(readForeignFile(file, (text) => text.replace(/^\uFEFF/, '')))
  const environments = isRecord(whole) ? whole['agoge'] : undefined
  return parseEnvironmentConfig(
    isRecord(environments) ? environments[name] : undefined,
    `${file}: agoge.${name}`,
  )
}

export interface OpenMcpEnvironmentOptions
  extends ReadConfigOptions, Omit<McpEnvironmentOptions, 'name' | 'server' | 'config' | 'redact'> {}

/**
 * Opens the environment of a server in `.mcp.json` (or in `file`). Configured env and header values are hidden.
 *
 * @example
 * const environment = await openMcpEnvironment('memory', { file: 'examples/mcp.json', sandbox: true })
 * console.log(environment.plan)
 * const { tasks } = await environment.prepareTasks({ seed: 0, counts: { train: 800, validation: 100, test: 400 } })
 */
export async function openMcpEnvironment(
  name: string,
  options: OpenMcpEnvironmentOptions = {},
): Promise<McpEnvironment> {
  const server = installedServer(readServerConfig(name, options))
  const config = readEnvironmentConfig(name, options)
  const redactor = createRedactor([
    server,
    ...(config.env === undefined ? [] : [{ command: '', env: config.env }]),
  ])
  // Loaded on demand: making tasks from the tools of a server is a fifth of what `agoge` would load.
  const { createMcpEnvironment } = await import('./mcp-environment.ts')
  return createMcpEnvironment({
    ...options,
    name,
    server,
    config,
    redact: (text) => redactor.text(text),
  })
}
