import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, parse, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { StdioServerConfig } from './server-config.ts'

export interface ServerPackage {
  /** npm name, e.g. `@modelcontextprotocol/server-filesystem`. */
  package: string
  /** Exact version fetched through `npx` where the package is not installed. */
  version: string
  /** Which program of the package; the only or first one when absent. */
  bin?: string
  args?: string[]
  env?: Record<string, string>
}

export interface ResolvedServer {
  config: StdioServerConfig
  /** `installed`: found in node_modules; `npx`: npm will fetch it, which needs the network once. */
  source: 'installed' | 'npx'
  /** The version that will run. */
  version: string
}

/**
 * How to start an MCP server that is an npm package: by its installed program, looked for in `node_modules` from
 * `from` upwards (default: the working directory, then this library), else by `npx` at the pinned version.
 */
export function resolveServer(server: ServerPackage, from: string = process.cwd()): ResolvedServer {
  const common = server.env === undefined ? {} : { env: server.env }
  for (const start of [from, dirname(fileURLToPath(import.meta.url))]) {
    const found = findInstalled(server, start)
    if (found === undefined) continue
    return {
      config: {
        name: server.package,
        command: process.execPath,
        args: [found.script, ...(server.args ?? [])],
        ...common,
      },
      source: 'installed',
      version: found.version,
    }
  }
  const spec = `${server.package}@${server.version}`
  const program = server.bin === undefined ? [spec] : ['--package', spec, server.bin]
  return {
    config: {
      name: server.package,
      command: 'npx',
      args: ['-y', ...program, ...(server.args ?? [])],
      ...common,
    },
    source: 'npx',
    version: server.version,
  }
}

function findInstalled(
  server: ServerPackage,
  start: string,
): { script: string; version: string } | undefined {
  let folder = resolve(start)
  const { root } = parse(folder)
  for (;;) {
    const home = join(folder, 'node_modules', server.package)
    const manifest = join(home, 'package.json')
    if (existsSync(manifest)) {
      const { bin, version } = JSON.parse(readFileSync(manifest, 'utf8')) as {
        bin?: string | Record<string, string>
        version?: string
      }
      const script =
        typeof bin === 'string'
          ? bin
          : server.bin === undefined
            ? Object.values(bin ?? {})[0]
            : bin?.[server.bin]
      if (script !== undefined && existsSync(join(home, script))) {
        return { script: join(home, script), version: version ?? 'unknown' }
      }
    }
    if (folder === root) return undefined
    folder = dirname(folder)
  }
}
