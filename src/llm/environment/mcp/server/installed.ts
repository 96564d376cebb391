import { existsSync, readdirSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { readForeignFile } from '../../../../untrusted/foreign-file.ts'
import { resolveServer, type ServerConfig } from '../../../tool/server-config.ts'
import { isPlainObject, parseJson } from '../salient.ts'

/**
 * Replaces `npx -y PACKAGE@VERSION` by the installed program, if that version is installed, or if `downloaded` and npx
 * has it. npx would run the same program half a second later and with one more process for every server.
 *
 * @param downloaded also look for what npx downloaded, for `npx -y PACKAGE` as well. Its code can then be copied.
 */
export function installedServer(server: ServerConfig, downloaded = false): ServerConfig {
  if ('url' in server || server.command !== 'npx') return server
  const args = (server.args ?? []).filter((argument) => argument !== '-y' && argument !== '--yes')
  const [spec = '', ...rest] = args
  const [, name, version] = /^((?:@[\w.-]+\/)?[\w.-]+)(?:@([\w.-]+))?$/.exec(spec) ?? []
  if (name === undefined) return server
  if (version !== undefined && /^\d/.test(version)) {
    const found = resolveServer({ package: name, version, args: rest }, server.cwd ?? process.cwd())
    if (found.source === 'installed' && found.version === version && 'command' in found.config)
      return { ...server, command: found.config.command, args: found.config.args ?? [] }
  }
  const folder = downloaded ? npxFolder(spec) : undefined
  if (folder === undefined) return server
  const { config, source } = resolveServer({ package: name, version: version ?? '', args: rest }, folder)
  // A library's own folder is searched as well; only what npx downloaded is what npx runs.
  const script = config.args?.[0]
  if (source !== 'installed' || script?.startsWith(folder) !== true) return server
  return { ...server, command: config.command, args: config.args ?? [] }
}

/** The folder into which npx downloaded a package that was named so; the newest, if there are several. */
function npxFolder(spec: string): string | undefined {
  const cache = join(process.env['npm_config_cache'] ?? join(homedir(), '.npm'), '_npx')
  if (!existsSync(cache)) return undefined
  const folders = readdirSync(cache)
    .map((name) => join(cache, name))
    .filter((folder) => {
      const file = join(folder, 'package.json')
      const manifest = existsSync(file) ? readForeignFile(file, parseJson) : undefined
      const npx = isPlainObject(manifest) ? manifest['_npx'] : undefined
      const packages = isPlainObject(npx) ? npx['packages'] : undefined
      return Array.isArray(packages) && packages.length === 1 && packages[0] === spec
    })
  return folders.toSorted((left, right) => statSync(right).mtimeMs - statSync(left).mtimeMs).at(0)
}
