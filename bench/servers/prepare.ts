// What a user would have before `agoge train mcp:NAME`: the package installed, a `.mcp.json`, and the files it names.
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { BenchServer } from './servers.ts'

const dataFolder = fileURLToPath(new URL('data', import.meta.url))
/** Ignored by git. */
const cacheFolder = fileURLToPath(new URL('../../.agoge/servers', import.meta.url))

/** Splits `@scope/name@1.2.3`. */
export function packageOf(server: BenchServer): { name: string; version: string } {
  const at = server.package.lastIndexOf('@')
  return { name: server.package.slice(0, at), version: server.package.slice(at + 1) }
}

/**
 * The folder in which the pinned package is installed. Installs it on the first call, without install scripts; only the named
 * native modules are built.
 */
export function installServer(server: BenchServer): string {
  const folder = join(cacheFolder, server.name, 'package')
  const { name, version } = packageOf(server)
  const done = join(folder, 'installed.txt')
  if (existsSync(done) && readFileSync(done, 'utf8') === server.package) return folder
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), json({ private: true, dependencies: { [name]: version } }))
  const npm = (...args: string[]): void => {
    execFileSync('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  }
  npm('install', '--ignore-scripts', '--no-audit', '--no-fund')
  // This repository's own npm settings, which a child inherits, forbid the scripts that build a module.
  if (server.rebuild !== undefined) npm('rebuild', '--ignore-scripts=false', ...server.rebuild)
  writeFileSync(done, server.package)
  return folder
}

/**
 * A fresh working folder: a copy of the installed package (a server may write beside its own code), the user's files and the
 * `.mcp.json`. What an earlier call left there is removed.
 */
export function prepareFolder(server: BenchServer, seed: number): string {
  const installed = installServer(server)
  const folder = join(cacheFolder, server.name, `seed-${seed}`)
  rmSync(folder, { recursive: true, force: true })
  cpSync(installed, folder, { recursive: true, verbatimSymlinks: true })
  for (const [name, source] of Object.entries(server.files ?? {})) placeFile(folder, name, source)
  writeFileSync(join(folder, '.mcp.json'), json(mcpConfig(server, folder)))
  return folder
}

/** The `.mcp.json` that a user would write. */
export function mcpConfig(
  { name, package: pinned, args, cwd, env, service, examples }: BenchServer,
  folder: string,
): unknown {
  const filled = (text: string): string => text.replaceAll('{folder}', resolve(folder))
  const each = (record: Readonly<Record<string, string>>): Record<string, string> =>
    Object.fromEntries(Object.entries(record).map(([key, value]) => [key, filled(value)]))
  const entry = {
    command: 'npx',
    args: ['-y', pinned, ...args.map(filled)],
    ...(cwd !== undefined && { cwd: filled(cwd) }),
    ...(env && { env: each(env) }),
  }
  return {
    mcpServers: { [name]: entry },
    ...((service || examples) && {
      agoge: { [name]: { ...(service && { service: each({ ...service }) }), ...(examples && { examples }) } },
    }),
  }
}

/** Copies a file or folder of `data`. A database is made from its SQL, with the module that the server brings. */
function placeFile(folder: string, name: string, source: string): void {
  const to = join(folder, name)
  const from = join(dataFolder, source)
  if (!name.endsWith('.db')) {
    cpSync(from, to, { recursive: true })
    return
  }
  const program = `const { Database } = require('sqlite3')
const database = new Database(process.argv[1])
database.exec(require('node:fs').readFileSync(process.argv[2], 'utf8'), (error) => {
  if (error) throw error
  database.close()
})`
  execFileSync(process.execPath, ['-e', program, to, from], { cwd: folder })
}

const json = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`
