import { endGroup, spawnGroup } from '../../../../runs/process-group.ts'
import { InfrastructureError } from '../../../tool/tool.ts'
import { startMariadb } from './mariadb.ts'
import { startPostgres } from './postgres.ts'
import { startRedis } from './redis.ts'
import { runResetCommand } from './reset.ts'
import type { ServiceConfig } from './service-config.ts'
import {
  answers,
  asUser,
  freePort,
  isRoot,
  processEnv,
  ready,
  runProgram,
  type Service,
  type StarterOptions,
  type StartService,
} from './service-process.ts'
import { shownRecords, shownState } from './shown-state.ts'

/**
 * Returns what starts the service for one slot, given the folder of the slot, and what ends what the slots share.
 *
 * @throws AgogeError if the service is not installed or cannot be started.
 */
export function serviceStarter(
  config: ServiceConfig,
  options: StarterOptions,
): { start: StartService; close: () => Promise<void> } {
  if (config.kind === 'postgres') return startPostgres(config, options)
  const close = async (): Promise<void> => {}
  if (config.kind === 'mariadb') return { start: startMariadb(config, options), close }
  if (config.kind === 'redis') return { start: startRedis(config, options), close }
  return { start: (folder, signal) => startCommand(config, folder, options, signal), close }
}

/** Starts the service that a command describes. It has come up when its port answers, or when the command has ended. */
async function startCommand(
  { start = '', seed, reset, show, user }: ServiceConfig,
  folder: string,
  { redact }: StarterOptions,
  signal: AbortSignal | undefined,
): Promise<Service> {
  const port = await freePort()
  const variables = { AGOGE_SLOT: folder, AGOGE_PORT: String(port) }
  const [program, ...args] = asUser(user, ['/bin/sh', '-c', start])
  const child = spawnGroup(program, args, { env: processEnv(variables), cwd: folder })
  let words = ''
  child.stderr.on('data', (data: Buffer) => (words = (words + data.toString()).slice(-1000)))
  child.stdout.resume()
  const close = (): Promise<void> => endGroup(child, 3000)
  const run = (command: string): Promise<void> =>
    runResetCommand(command, folder, { signal, redact, env: variables })
  const shown = (command: string): Promise<string> =>
    runProgram(['/bin/sh', '-c', command], { env: variables, redact }).catch((cause: unknown) => {
      const said = cause instanceof Error ? cause.message : String(cause)
      // A fault of this machine masks an episode and does not end the run.
      throw new InfrastructureError(`the "show" command of the service failed: ${said}`, { cause })
    })
  try {
    const failed = (): boolean => child.exitCode !== null && child.exitCode !== 0
    await ready(
      async () => (await answers(port)) || (child.exitCode === 0 && !start.includes('AGOGE_PORT')),
      () => failed() && `it ended with exit code ${child.exitCode}: ${redact(words.trim())}`,
      signal,
    )
    if (seed !== undefined) await run(seed)
  } catch (error) {
    await close()
    throw error
  }
  return {
    places: { service: `127.0.0.1:${port}`, host: '127.0.0.1', port: String(port) },
    env: variables,
    async reset() {
      if (reset === undefined)
        throw new InfrastructureError('the "service" of the "agoge" entry declares no "reset"')
      await run(reset)
    },
    ...(show !== undefined && {
      describe: async () => shownState(await shown(show)),
      records: async () => shownRecords(await shown(show)),
    }),
    close,
  }
}

/** What a person should know about the service, as a sentence without a full stop. */
export function serviceRemark({ kind, start, user }: ServiceConfig): string {
  if (kind === 'redis') return 'each of its processes has a private Redis of this machine'
  if (kind === undefined) return `each of its processes has a service of its own: ${start}`
  const usual = kind === 'postgres' ? 'postgres' : 'mysql'
  const as = isRoot() ? `, as the user ${user ?? usual}: it does not run as root` : ''
  if (kind === 'mariadb') return `each of its processes has a private MariaDB of this machine${as}`
  return `each of its processes has a database of its own in a private PostgreSQL of this machine${as}`
}
