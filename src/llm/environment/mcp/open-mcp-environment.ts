import { readFileSync } from 'node:fs'
import { createRedactor } from '../../tool/redact.ts'
import {
  listServers,
  type ReadConfigOptions,
  readServerConfig,
  resolveServer,
  type ServerConfig,
} from '../../tool/server-config.ts'
import { isPlainObject } from './json-walk.ts'
import { createMcpEnvironment } from './mcp-environment.ts'
import type { McpEnvironment, McpEnvironmentOptions } from './mcp-environment.ts'
import { parseEnvironmentConfig } from './environment-config.ts'
import type { McpEnvironmentConfig } from './environment-config.ts'

/**
 * The `agoge` entry of a server, beside `mcpServers` in the same file: how its state is reset and observed.
 * Without one the server is a live system that is only read.
 *
 * @throws AgogeError naming the file and the field that cannot be used.
 */
export function readEnvironmentConfig(name: string, options: ReadConfigOptions = {}): McpEnvironmentConfig {
  const { file } = listServers(options)
  if (file === undefined) return parseEnvironmentConfig(undefined, name)
  const whole: unknown = JSON.parse(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''))
  const environments = isPlainObject(whole) ? whole['agoge'] : undefined
  return parseEnvironmentConfig(
    isPlainObject(environments) ? environments[name] : undefined,
    `${file}: agoge.${name}`,
  )
}

export interface OpenMcpEnvironmentOptions
  extends ReadConfigOptions, Omit<McpEnvironmentOptions, 'name' | 'server' | 'config' | 'redact'> {}

/**
 * The environment of a server named in `.mcp.json` (or the `file` given), with configured env and header values hidden.
 *
 * ```ts
 * const environment = await openMcpEnvironment('memory', { file: 'examples/mcp.json', sandbox: true })
 * console.log(environment.plan)
 * const { tasks } = await environment.prepareTasks({ seed: 0, counts: { train: 800, validation: 100, test: 400 } })
 * ```
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
  return createMcpEnvironment({
    ...options,
    name,
    server,
    config,
    redact: (text) => redactor.text(text),
  })
}

/**
 * `npx -y PACKAGE@VERSION` started directly where that version is installed: npx would run the same program, only
 * half a second later and with a process more for every slot.
 */
export function installedServer(server: ServerConfig): ServerConfig {
  if ('url' in server || server.command !== 'npx') return server
  const args = (server.args ?? []).filter((argument) => argument !== '-y' && argument !== '--yes')
  const [, name, version] = /^((?:@[\w.-]+\/)?[\w.-]+)@(\d[\w.-]*)$/.exec(args[0] ?? '') ?? []
  if (name === undefined || version === undefined) return server
  const found = resolveServer({ package: name, version, args: args.slice(1) }, server.cwd ?? process.cwd())
  if (found.source !== 'installed' || found.version !== version || !('command' in found.config)) return server
  return { ...server, command: found.config.command, args: found.config.args ?? [] }
}
