import { readFileSync } from 'node:fs'
import { createRedactor } from '../../tool/redact.ts'
import { listServers, readServerConfig } from '../../tool/read-server-config.ts'
import type { ReadConfigOptions } from '../../tool/read-server-config.ts'
import { resolveServer } from '../../tool/resolve-server.ts'
import type { ServerConfig } from '../../tool/server-config.ts'
import { isPlainObject } from './json-walk.ts'
import { createMcpWorld } from './mcp-world.ts'
import type { McpWorld, McpWorldOptions } from './mcp-world.ts'
import { parseWorldConfig } from './world-config.ts'
import type { McpWorldConfig } from './world-config.ts'

/**
 * The `agoge` entry of a server, beside `mcpServers` in the same file: how its state is reset and observed.
 * Without one the server is a live system that is only read.
 *
 * @throws AgogeError naming the file and the field that cannot be used.
 */
export function readWorldConfig(name: string, options: ReadConfigOptions = {}): McpWorldConfig {
  const { file } = listServers(options)
  if (file === undefined) return parseWorldConfig(undefined, name)
  const whole: unknown = JSON.parse(readFileSync(file, 'utf8').replace(/^\uFEFF/, ''))
  const worlds = isPlainObject(whole) ? whole['agoge'] : undefined
  return parseWorldConfig(isPlainObject(worlds) ? worlds[name] : undefined, `${file}: agoge.${name}`)
}

export interface OpenMcpWorldOptions
  extends ReadConfigOptions, Omit<McpWorldOptions, 'name' | 'server' | 'config' | 'redact'> {}

/**
 * The world of a server named in `.mcp.json` (or the `file` given), with configured env and header values hidden.
 *
 * ```ts
 * const world = await openMcpWorld('memory', { file: 'examples/mcp.json', sandbox: true })
 * console.log(world.plan)
 * const { tasks } = await world.prepareTasks({ seed: 0, counts: { train: 800, validation: 100, test: 400 } })
 * ```
 */
export async function openMcpWorld(name: string, options: OpenMcpWorldOptions = {}): Promise<McpWorld> {
  const server = installedServer(readServerConfig(name, options))
  const config = readWorldConfig(name, options)
  const redactor = createRedactor([
    server,
    ...(config.env === undefined ? [] : [{ command: '', env: config.env }]),
  ])
  return createMcpWorld({
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
