import { isPlainObject } from '../salient.ts'

/** The databases of which Agoge starts a private one. */
export const serviceKinds = ['postgres', 'mariadb', 'redis'] as const
export type ServiceKind = (typeof serviceKinds)[number]

/** A database or another service behind a server, of which Agoge starts a private one. */
export interface ServiceConfig {
  /** One that is installed on this machine, in a temporary folder. */
  kind?: ServiceKind
  /** A shell command that starts another service in the slot; it may stay in the foreground. */
  start?: string
  /**
   * What fills it once: a shell command, or a file (`.sql` for PostgreSQL and MariaDB, commands of `redis-cli` for Redis). Relative
   * paths start in the working directory.
   */
  seed?: string
  /**
   * A shell command that resets it. `start` needs one, `redis` takes none. Default of `postgres` and `mariadb`: to what it
   * was after `seed`.
   */
  reset?: string
  /**
   * With `start`: a shell command that prints what the service keeps, as a JSON object or as text. Without it only the
   * server's tools show that.
   */
  show?: string
  /**
   * The user of this machine that it runs as. Default: this process's; where that is root, `postgres` or `mysql` for
   * those databases.
   */
  user?: string
}

/** Whether what it keeps can be seen without the tools of the server. */
export function isShown({ kind, show }: ServiceConfig): boolean {
  return kind !== undefined || show !== undefined
}

const textFields = ['start', 'seed', 'reset', 'show', 'user'] as const
const isText = (key: string): key is (typeof textFields)[number] => textFields.some((field) => field === key)

type Fail = (field: string, given: unknown, expected: string) => never

/** Reads the `service` of an `agoge` entry: a name, or an object. */
export function parseService(value: unknown, fail: Fail): ServiceConfig {
  const kindOf = (given: unknown): ServiceKind =>
    serviceKinds.find((kind) => kind === given) ?? fail('service', given, '"postgres", "mariadb" or "redis"')
  if (typeof value === 'string') return { kind: kindOf(value) }
  const shape = '"postgres", "mariadb", "redis", or { "kind" or "start", "seed", "reset", "show", "user" }'
  if (!isPlainObject(value)) return fail('service', value, shape)
  const config: ServiceConfig = {}
  for (const [key, item] of Object.entries(value)) {
    if (key === 'kind') config.kind = kindOf(item)
    else if (!isText(key)) return fail(`service.${key}`, key, 'one of: kind, start, seed, reset, show, user')
    else if (typeof item !== 'string' || item === '') return fail(`service.${key}`, item, 'a text')
    else config[key] = item
  }
  if ((config.kind === undefined) === (config.start === undefined)) return fail('service', value, shape)
  if (config.kind === 'redis' && config.reset !== undefined)
    return fail(
      'service.reset',
      config.reset,
      'nothing: a private Redis is put back to what it was after "seed"',
    )
  if (config.kind !== undefined && config.show !== undefined)
    return fail('service.show', config.show, 'nothing: what a private database keeps is read from it')
  if (config.start !== undefined && config.reset === undefined)
    return fail('service', value, 'a "reset" command beside "start"')
  return config
}
