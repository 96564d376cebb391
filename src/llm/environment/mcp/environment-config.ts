import { AgogeError } from '../../../error.ts'
import { isPlainObject, type PlainObject } from './salient.ts'
import { parseService, type ServiceConfig } from './server/service-config.ts'

/**
 * How the state behind a server is reset before a task. - `restart`: a new process has a fresh state. - `{ command }`:
 * runs a shell command, with the server's folder in the variable `AGOGE_SLOT`. - `{ files }`: restores these files or
 * folders, which hold the whole state and are read at every call. Relative paths start in the server's folder. - `{
 * roots }`: the server works below the MCP root it is given. Each server gets an empty folder as its root. - `none`: no
 * reset; only tasks that read are made. - `slot`: the server runs in a folder of its own, with copies of what it is given,
 * and a reset restores that folder. - `auto`: `slot` for a command in a sandbox, a new session (`restart`) for a URL in
 * one, otherwise `none`.
 */
export type ResetRule =
  | 'auto'
  | 'slot'
  | 'restart'
  | 'none'
  | { command: string }
  | { files: string[] }
  | { roots: true }

/** The `agoge` entry of a server in `.mcp.json`. `{slot}` in `env` stands for the server's own folder. */
export interface McpEnvironmentConfig {
  reset: ResetRule
  /**
   * What shows the state: read-only tools without required arguments, and `{files}` for the contents of the files that
   * `reset` restores. Empty: it is found by trying the tools.
   */
  observe: string[]
  /** Variables that override the server's `env`, such as a path inside `{slot}`. */
  env?: Record<string, string>
  /** Seconds that the server may take to start. Default: see `ConnectOptions`. */
  connectSeconds?: number
  /**
   * Names of properties whose values the server generates (ids, times). They are ignored when states and results are
   * compared, and never asked for.
   */
  ignore?: string[]
  /** Characters of a result that the policy sees. Default: 300. */
  resultLimit?: number
  /** Megabytes that may be copied into a slot. Default: 64. */
  slotMegabytes?: number
  /** What the server stores its data in, such as a database. Default: none. */
  service?: ServiceConfig
  /** Arguments that tools are called with, by the name of the tool: a source of values, and of whole calls. */
  examples?: Record<string, PlainObject[]>
}

/** The entry of `observe` that stands for the contents of the restored files. */
export const filesObserver = '{files}'

function keepsFiles(reset: ResetRule): boolean {
  return reset === 'auto' || reset === 'slot' || (typeof reset === 'object' && !('command' in reset))
}

/** What holds for a server without an `agoge` entry. */
export const plainEnvironment: McpEnvironmentConfig = { reset: 'auto', observe: [] }

/** The configuration with the reset that `auto` stands for. */
export function resolveReset(
  config: McpEnvironmentConfig,
  { remote, sandbox }: { remote: boolean; sandbox: boolean },
): McpEnvironmentConfig {
  if (config.reset !== 'auto') return config
  return { ...config, reset: !sandbox ? 'none' : remote ? 'restart' : 'slot' }
}

/** What is missing for tasks that change the state, as a clause; undefined if the state can be reset. */
export function missingState({ reset }: McpEnvironmentConfig): string | undefined {
  return reset === 'none' || reset === 'auto' ? 'its state cannot be reset' : undefined
}

/** Checks the `agoge` entry of one server. */
export function parseEnvironmentConfig(value: unknown, where: string): McpEnvironmentConfig {
  if (value === undefined) return plainEnvironment
  const fail = (field: string, given: unknown, expected: string): never => {
    throw new AgogeError(`${where}: "${field}" is not usable`, { code: 'bad-config', given, expected })
  }
  if (!isPlainObject(value)) return fail('agoge', value, '{ "reset": ..., "observe": [...] }')
  const known = [
    'reset',
    'observe',
    'env',
    'ignore',
    'connectSeconds',
    'resultLimit',
    'slotMegabytes',
    'service',
    'examples',
  ]
  for (const key of Object.keys(value)) {
    if (!known.includes(key)) fail(key, key, `one of: ${known.join(', ')}`)
  }
  const strings = (field: string): string[] => {
    const list = value[field] ?? []
    if (!Array.isArray(list) || list.some((item) => typeof item !== 'string')) {
      return fail(field, list, 'an array of strings')
    }
    return list as string[]
  }
  const config: McpEnvironmentConfig = {
    reset: parseReset(value['reset'] ?? 'auto', fail),
    observe: strings('observe'),
  }
  if (config.observe.includes(filesObserver) && !keepsFiles(config.reset)) {
    fail('observe', filesObserver, 'a "reset" with "files" or "roots", whose contents can be seen')
  }
  const ignore = strings('ignore')
  if (ignore.length > 0) config.ignore = ignore
  const seconds = value['connectSeconds']
  if (seconds !== undefined) {
    if (typeof seconds !== 'number' || !(seconds >= 1 && seconds <= 3600))
      return fail('connectSeconds', seconds, 'a number of seconds from 1 to 3600')
    config.connectSeconds = seconds
  }
  const limit = value['resultLimit']
  if (limit !== undefined) {
    if (typeof limit !== 'number' || !Number.isSafeInteger(limit) || limit < 1)
      return fail('resultLimit', limit, 'a whole number of at least 1')
    config.resultLimit = limit
  }
  const megabytes = value['slotMegabytes']
  if (megabytes !== undefined) {
    if (typeof megabytes !== 'number' || !(megabytes > 0))
      return fail('slotMegabytes', megabytes, 'a number above 0')
    config.slotMegabytes = megabytes
  }
  if (value['service'] !== undefined) config.service = parseService(value['service'], fail)
  const examples = value['examples']
  if (examples !== undefined) {
    const lists = isPlainObject(examples) ? Object.values(examples) : [undefined]
    if (!lists.every((list) => Array.isArray(list) && list.every(isPlainObject)))
      return fail('examples', examples, '{ "TOOL": [{ "ARGUMENT": ... }] }')
    config.examples = examples as Record<string, PlainObject[]>
  }
  const env = value['env']
  if (env !== undefined) {
    if (!isPlainObject(env) || Object.values(env).some((item) => typeof item !== 'string')) {
      return fail('env', env, 'an object of strings')
    }
    config.env = env as Record<string, string>
  }
  return config
}

function parseReset(
  reset: unknown,
  fail: (field: string, given: unknown, expected: string) => never,
): ResetRule {
  if (reset === 'auto' || reset === 'slot' || reset === 'restart' || reset === 'none') return reset
  if (isPlainObject(reset)) {
    const { command, files, roots } = reset
    if (typeof command === 'string') return { command }
    if (Array.isArray(files) && files.length > 0 && files.every((file) => typeof file === 'string'))
      return { files }
    if (roots === true) return { roots }
  }
  return fail(
    'reset',
    reset,
    '"slot", "restart", "none", { "command": "..." }, { "files": ["..."] } or { "roots": true }',
  )
}
