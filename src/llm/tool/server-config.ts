import { existsSync } from 'node:fs'
import { dirname, isAbsolute, join, parse, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defined } from '../../defined.ts'
import { closestName } from '../../closest-name.ts'
import { AgogeError } from '../../error.ts'
import { readForeignFile, readForeignObject } from '../../untrusted/foreign-file.ts'
import { locateJsonError } from '../../untrusted/json-error.ts'
import { parseOwnJson } from '../../untrusted/own-json.ts'
import { isRecord } from '../../untrusted/schema-check.ts'

interface CommonServerConfig {
  name?: string
  /**
   * Values inserted by `${VAR}`, anywhere in the configuration. They are always redacted: a value kept in a variable is
   * probably a secret.
   */
  expanded?: string[]
}

/** An MCP server that runs as a child process and communicates over standard input and output. */
export interface StdioServerConfig extends CommonServerConfig {
  command: string
  args?: string[]
  /** Added to a small inherited environment (HOME, PATH, USER ...). */
  env?: Record<string, string>
  cwd?: string
}

/** An MCP server reached over streamable HTTP. */
export interface HttpServerConfig extends CommonServerConfig {
  url: string
  headers?: Record<string, string>
  /** Signs in with OAuth 2.1. Default: the server is reached with `headers` alone. */
  oauth?: OAuthConfig
}

/** How to sign in. Empty: a person agrees in a browser, and Agoge registers itself with the authorisation server. */
export interface OAuthConfig {
  /** Default: `client_credentials` with a `clientSecret`, else `authorization_code`. */
  grant?: 'authorization_code' | 'client_credentials'
  /** Default: dynamic client registration. */
  clientId?: string
  clientSecret?: string
  /** Default: what the server asks for. */
  scope?: string
  /**
   * The only authorisation server that may receive the credentials. Client credentials need it. Default: the one that the
   * MCP server names.
   */
  issuer?: string
  /** Port of this machine for the redirect. Default: a free one. */
  redirectPort?: number
}

export type ServerConfig = StdioServerConfig | HttpServerConfig

/** Default configuration files in the working directory, in order of preference. */
const defaultConfigFiles = ['.mcp.json', join('.vscode', 'mcp.json'), join('.cursor', 'mcp.json')] as const

export interface ReadConfigOptions {
  /** The configuration file, as in `--mcp-config`. Default: the first of `defaultConfigFiles` that exists. */
  file?: string
  /** Default: the working directory. */
  folder?: string
  /** Variables for `${VAR}`. Default: `process.env`. */
  environment?: Record<string, string | undefined>
}

/** Lists the names of all configured servers and the file they are in (undefined if there is none). */
export function listServers(options: ReadConfigOptions = {}): { file: string | undefined; names: string[] } {
  const { file, entries } = readEntries(options)
  return { file, names: Object.keys(entries) }
}

/**
 * Reads the configuration of one server from `.mcp.json` (key `mcpServers`, or `servers` as in VS Code). `${VAR}`,
 * `${VAR:-default}` and `${env:VAR}` are replaced from the environment; `expanded` lists the inserted values.
 *
 * @throws AgogeError if the file is missing or not JSON (with line and column), the server is unknown (with the known
 * ones), `command` and `url` are both missing, a field has the wrong type, or a variable is not set.
 */
export function readServerConfig(name: string, options: ReadConfigOptions = {}): ServerConfig {
  const { file, entries } = readEntries(options)
  const names = Object.keys(entries)
  if (!Object.hasOwn(entries, name)) {
    const meant = closestName(name, names)
    throw new AgogeError(`There is no MCP server named "${name}".`, {
      code: 'unknown-server',
      given: name,
      expected: names.length === 0 ? 'a server of an MCP configuration' : `one of ${names.join(', ')}`,
      hint:
        file === undefined
          ? 'Make a .mcp.json with "mcpServers" here, or name one with --mcp-config FILE.'
          : meant === undefined
            ? `Add it to ${file}.`
            : `Did you mean "${meant}"? (${file})`,
    })
  }
  return toConfig(name, entries[name], file as string, options.environment ?? process.env)
}

function readEntries(options: ReadConfigOptions): {
  file: string | undefined
  entries: Record<string, unknown>
} {
  const folder = options.folder ?? process.cwd()
  const file =
    options.file === undefined
      ? defaultConfigFiles.map((path) => join(folder, path)).find((path) => existsSync(path))
      : resolve(folder, options.file)
  if (file === undefined) return { file, entries: {} }
  let text: string
  try {
    text = readForeignFile(file, (found) => found.replace(/^\uFEFF/, ''))
  } catch (cause) {
    throw new AgogeError(`The MCP configuration ${file} cannot be read.`, {
      code: 'bad-mcp-config',
      given: cause instanceof Error ? cause.message : cause,
      expected: 'a JSON file with "mcpServers"',
      cause,
    })
  }
  const place = locateJsonError(text)
  if (place !== undefined) {
    throw new AgogeError(`${file} is not JSON: line ${place.line}, column ${place.column}.`, {
      code: 'bad-mcp-config',
      given: text.split('\n')[place.line - 1]?.trim().slice(0, 120),
      expected: '{ "mcpServers": { "NAME": { "command": ..., "args": [...] } } }',
      hint: 'JSON has no comments and no comma after the last item.',
    })
  }
  const parsed = parseOwnJson(text)
  const entries = isRecord(parsed) ? (parsed.mcpServers ?? parsed.servers) : undefined
  if (!isRecord(entries)) {
    throw new AgogeError(`${file} names no servers.`, {
      code: 'bad-mcp-config',
      given: isRecord(parsed) ? `the keys ${Object.keys(parsed).join(', ') || '(none)'}` : parsed,
      expected: 'an object "mcpServers" (or "servers") of servers by name',
    })
  }
  return { file, entries }
}

function toConfig(
  name: string,
  entry: unknown,
  file: string,
  environment: Record<string, string | undefined>,
): ServerConfig {
  const where = `server "${name}" in ${file}`

  const expanded = new Set<string>()
  /**
   * The fields that every kind of server has. Call it after all fields have been read, because reading fills
   * `expanded`.
   */
  const common = (): Pick<ServerConfig, 'name' | 'expanded'> => ({
    name,
    ...(expanded.size === 0 ? {} : { expanded: [...expanded] }),
  })

  function refuse(field: string, given: unknown, expected: string): never {
    throw new AgogeError(`The ${where} has a wrong "${field}".`, { code: 'bad-mcp-config', given, expected })
  }

  function expand(text: string, field: string): string {
    return text.replaceAll(/\$\{([^}]*)\}/g, (_, inside: string) => {
      const [, variable, fallback] = /^(?:env:)?([^:]+?)(?::-([\s\S]*))?$/.exec(inside) ?? []
      if (inside === 'workspaceFolder') {
        const folder = dirname(file)
        return folder.endsWith('.vscode') || folder.endsWith('.cursor') ? dirname(folder) : folder
      }
      const value = variable === undefined ? undefined : environment[variable]
      // As in a shell, `:-` also replaces an empty value.
      if (fallback !== undefined && (value === undefined || value === '')) return fallback
      if (value !== undefined) {
        expanded.add(value)
        return value
      }
      throw new AgogeError(`The ${where} needs ${variable ?? inside}, which is not set (field "${field}").`, {
        code: 'missing-variable',
        given: `\${${inside}}`,
        expected: 'a variable of the environment',
        hint: `Set it (export ${variable ?? 'NAME'}=...) or give a default: \${${variable ?? 'NAME'}:-default}.`,
      })
    })
  }

  function text(field: string, value: unknown): string {
    return typeof value === 'string' && value !== '' ? expand(value, field) : refuse(field, value, 'a text')
  }

  function record(field: string, value: unknown): Record<string, string> {
    if (!isRecord(value)) return refuse(field, value, 'an object of texts')
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [
        key,
        typeof item === 'string'
          ? expand(item, `${field}.${key}`)
          : refuse(`${field}.${key}`, item, 'a text'),
      ]),
    )
  }

  if (!isRecord(entry)) {
    throw new AgogeError(`The ${where} is no object.`, {
      code: 'bad-mcp-config',
      given: entry,
      expected: '{ "command": ..., "args": [...] } or { "url": ... }',
    })
  }
  const { command, args, env, cwd, url, headers, type, oauth } = entry
  if (command !== undefined) {
    if (args !== undefined && !Array.isArray(args)) refuse('args', args, 'a list of texts')
    const list = (args as unknown[] | undefined)?.map((item, i) =>
      typeof item === 'string' ? expand(item, `args[${i}]`) : refuse(`args[${i}]`, item, 'a text'),
    )
    const program = text('command', command)
    const folder = cwd === undefined ? undefined : text('cwd', cwd)
    const variables = env === undefined ? {} : { env: record('env', env) }
    return {
      ...common(),
      command: program,
      ...defined({ args: list }),
      ...variables,
      ...(folder === undefined ? {} : { cwd: isAbsolute(folder) ? folder : resolve(dirname(file), folder) }),
    }
  }
  if (url === undefined) {
    throw new AgogeError(`The ${where} has neither "command" nor "url".`, {
      code: 'bad-mcp-config',
      given: `the keys ${Object.keys(entry).join(', ') || '(none)'}`,
      expected: '"command" (and "args") for a local server, "url" for one over streamable HTTP',
    })
  }
  if (type === 'sse')
    refuse('type', type, '"http" (streamable HTTP); the older SSE transport is not supported')
  const address = text('url', url)
  if (!URL.canParse(address) || !/^https?:$/.test(new URL(address).protocol)) {
    refuse('url', url, 'an http or https address')
  }
  const fields = headers === undefined ? {} : { headers: record('headers', headers) }
  const signIn = oauth === undefined ? {} : { oauth: readOAuth(oauth, text, refuse) }
  return { ...common(), url: address, ...fields, ...signIn }
}

/** `true` stands for an empty entry. */
function readOAuth(
  given: unknown,
  text: (field: string, value: unknown) => string,
  refuse: (field: string, given: unknown, expected: string) => never,
): OAuthConfig {
  if (given === true) return {}
  if (!isRecord(given)) return refuse('oauth', given, 'true, or an object')
  const oauth: OAuthConfig = {}
  for (const [field, value] of Object.entries(given)) {
    const place = `oauth.${field}`
    switch (field) {
      case 'grant':
        if (value !== 'authorization_code' && value !== 'client_credentials')
          refuse(place, value, '"authorization_code" or "client_credentials"')
        oauth.grant = value
        break
      case 'clientId':
      case 'clientSecret':
      case 'scope':
      case 'issuer':
        oauth[field] = text(place, value)
        break
      case 'redirectPort':
        if (!Number.isInteger(value) || Number(value) < 1 || Number(value) > 65_535)
          refuse(place, value, 'a port from 1 to 65535')
        oauth.redirectPort = value as number
        break
      default:
        refuse(place, value, 'one of grant, clientId, clientSecret, scope, issuer, redirectPort')
    }
  }
  return oauth
}

interface ServerPackage {
  /** npm name, such as `@modelcontextprotocol/server-filesystem`. */
  package: string
  /** Exact version that `npx` fetches if the package is not installed. */
  version: string
  /** Program of the package. Default: the only one, or the first. */
  bin?: string
  args?: string[]
  env?: Record<string, string>
}

interface ResolvedServer {
  config: StdioServerConfig
  /** `installed`: found in node_modules. `npx`: npm fetches it, which needs the network once. */
  source: 'installed' | 'npx'
  /** The version that runs. */
  version: string
}

/**
 * Finds out how to start an MCP server from an npm package. If a `node_modules` folder has the package, its program is
 * started; otherwise `npx` runs the pinned version.
 *
 * @param from folder where the search starts, going upwards; the library's own folder is searched next. Default: the
 * working directory.
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
      const { bin, version } = readForeignObject(manifest, 'bad-mcp-config') as {
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
