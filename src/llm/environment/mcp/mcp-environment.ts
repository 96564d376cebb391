import { defined } from '../../../defined.ts'
import type { ToolEnvironment } from '../../agent/types.ts'
import { AgogeError } from '../../../error.ts'
import type { ServerConfig } from '../../tool/server-config.ts'
import {
  type McpEnvironmentConfig,
  missingState,
  plainEnvironment,
  resolveReset,
} from './environment-config.ts'
import type { McpTask } from './mcp-task.ts'
import { describePlan, hashOf, isHashOf } from './plan.ts'
import { answersOtherwise } from './profile/repeatable.ts'
import { type Admission, type AdmissionOptions, admitTools, remedyHint } from './safety.ts'
import { type CallLimit, createCallLimit } from './server/call-limit.ts'
import { installedServer } from './server/installed.ts'
import {
  canRunSideBySide,
  type ListedTools,
  listServerTools,
  openPooledServer,
  type PooledServer,
  type PooledServerOptions,
  type ResetMode,
} from './server/pooled-server.ts'
import { reachesOthers } from './server/reach.ts'
import { isShown } from './server/service-config.ts'
import { serviceRemark, serviceStarter } from './server/service.ts'
import { planSlot, type SlotPlan } from './server/slot.ts'
import { mostProfileCalls, type ProfiledTools, profileTools } from './profile/profile-tools.ts'
import type { ToolProfile } from './profile/tool-profile.ts'
import { createStatePool } from './server/state-pool.ts'
import {
  type GeneratedTasks,
  generateTasks,
  type TaskCounts,
  type TaskGenerationOptions,
} from './task-generation.ts'
import { type Probe, probeTools } from './profile/tool-probing.ts'
import { createSystemEnvironment, createToolSystem } from './tool-system.ts'

export interface McpEnvironmentOptions extends AdmissionOptions {
  /** The server's name in the configuration. */
  name: string
  server: ServerConfig
  /** The `agoge` entry of the server. Default: none; the server is then a live system that is only read. */
  config?: McpEnvironmentConfig
  /** Total number of calls, including preparation and observation. Default: see `callLimits`. */
  maxCalls?: number
  /** Default: see `callLimits`. */
  callsPerSecond?: number
  /**
   * Maximum number of server processes, if several can run side by side. Default: 4, or 8 if a reset is a restart. At
   * most 16.
   */
  servers?: number
  /** Characters of a result that the policy sees. Default: the value in `config`, else 300. */
  resultLimit?: number
  /** Hides secrets in everything the server sends (tools, results, errors). */
  redact?: (text: string) => string
  signal?: AbortSignal
}

export interface McpEnvironment extends ToolEnvironment<McpTask> {
  /** The plan of calls as text. No tool is called before you can show it. */
  readonly plan: string
  /** True if tools may run that are not annotated as read-only. A person should then agree to the plan. */
  readonly needsConsent: boolean
  /** A hash of the plan and its server. Store it with the user's consent; `isAgreed` recognises it. */
  agreement(): string
  /** Whether this is the hash of the same plan for the same server, including configured values. */
  isAgreed(hash: string): boolean
  readonly admission: Admission
  readonly limit: CallLimit
  /** Tries the tools, then makes tasks and checks each one. `leftOut` lists the tools that no task uses, and why. */
  prepareTasks(options: PrepareTasksOptions): Promise<PreparedTasks>
}

export interface PrepareTasksOptions extends TaskGenerationOptions {
  /** Called with what trying the tools showed, before tasks are made. */
  onProfile?: (profile: ProfiledTools) => void
}

interface PreparedTasks {
  tasks: GeneratedTasks
  /** Tools without tasks, with the reason. `admission` lists those refused before the first call. */
  leftOut: Probe['leftOut']
  /** What each tool does, as its calls showed. Empty without a reset. */
  profiles: readonly ToolProfile[]
  /** Lines for `.mcp.json` that make the state-changing tools usable; undefined if there are none. */
  hint?: string
}

/**
 * Default limits on the number and rate of calls. A local process may be the front of a live system, just like a remote
 * server, so only a sandbox is called without a rate limit.
 */
export function callLimits(
  remote: boolean,
  sandbox: boolean,
): { maxCalls: number; callsPerSecond: number | undefined } {
  if (remote) return { maxCalls: 5_000, callsPerSecond: 5 }
  return sandbox ? { maxCalls: 500_000, callsPerSecond: undefined } : { maxCalls: 40_000, callsPerSecond: 50 }
}

/**
 * Connects to an MCP server, lists its tools and decides which may run. It calls none of them: show `plan` first.
 *
 * @throws AgogeError if the server has no usable tools, or reaches other hosts and `sandbox` is not `'remote'`.
 * @throws InfrastructureError if the server does not start.
 */
export async function createMcpEnvironment(options: McpEnvironmentOptions): Promise<McpEnvironment> {
  const { name, server, signal, sandbox = false } = options
  const redact = options.redact ?? ((text: string) => text)
  const remote = 'url' in server
  const config = resolveReset(options.config ?? plainEnvironment, { remote, sandbox: sandbox !== false })
  if (sandbox === true) checkReach(name, server, redact)
  const mode: ResetMode = { way: 'restart' }
  const started = await startOnce(options, { config, redact, mode, limit: () => limit })
  const { slot, specs, unusable } = started
  let admission: Admission
  try {
    admission = admitTools(name, specs, config, { ...options, unusable })
  } catch (error) {
    await closeStarted(started)
    throw error
  }
  const limits = callLimits(remote, sandbox !== false)
  const limit = createCallLimit({
    allowed: admission.admitted.map((tool) => tool.spec.name),
    maxCalls: options.maxCalls ?? limits.maxCalls,
    callsPerSecond: options.callsPerSecond ?? limits.callsPerSecond,
  })
  const address = remote ? new URL(server.url).host : [server.command, ...(server.args ?? [])].join(' ')
  // Without a reset there is no fresh state in which to repeat calls. With one, every tool may turn out to write:
  // annotations are only hints.
  const writers = new Set(config.reset === 'none' ? [] : admission.admitted.map(({ spec }) => spec.name))
  const restarts = config.reset === 'restart' || config.reset === 'slot'
  const wanted = Math.min(16, options.servers ?? (remote ? 1 : restarts && writers.size > 0 ? 8 : 4))
  const size = canRunSideBySide(server, config) ? wanted : 1
  const pool = createStatePool({
    size,
    async open() {
      const { first } = started
      started.first = undefined
      return first ?? openPooledServer({ ...started.serverOptions, signal })
    },
    writes: (tool) => writers.has(tool),
  })
  const system = createToolSystem({
    name: `mcp:${name}`,
    tools: admission.admitted,
    pool,
    observe: config.reset === 'none' ? [] : config.observe,
    ignore: config.ignore ?? [],
    resultLimit: options.resultLimit ?? config.resultLimit,
    examples: config.examples,
  })
  const profiled = config.reset !== 'none'
  const tries = profiled ? Math.min(mostProfileCalls(admission.admitted.length), limit.maxCalls) : undefined
  const remarks = [...(slot?.remarks ?? []), ...(config.service ? [serviceRemark(config.service)] : [])]
  const plan = redact(describePlan({ server: name, address, admission, config, limit, tries, remarks }))
  const agreed = { server, config, plan }
  const environment = createSystemEnvironment(system)
  return {
    ...environment,
    // Preparing the tasks decides which tools are offered.
    get tools() {
      return environment.tools
    },
    // A tool whose effect cannot be reset, or that makes up ids, may answer differently next time.
    get deterministic() {
      return config.reset !== 'none' && config.ignore === undefined && system.generated.places.size === 0
    },
    plan,
    async close() {
      await environment.close()
      await closeStarted(started)
    },
    agreement: () => hashOf(agreed),
    isAgreed: (hash) => isHashOf(hash, agreed),
    needsConsent: admission.admitted.some((tool) => tool.why !== 'readOnlyHint'),
    admission,
    limit,
    async prepareTasks(generation) {
      const profile = profiled
        ? await profileTools(system, {
            seed: generation.seed,
            deadlineSeconds: generation.deadlineSeconds,
            signal: generation.signal ?? signal,
            mostCalls: tries ?? 0,
            observe: config.observe,
            files: config.reset === 'slot',
            ...(config.service && { service: isShown(config.service) ? 'shown' : 'hidden' }),
            allowed: options.allow ?? [],
            pool,
            ...(config.reset === 'slot' && { mode }),
          })
        : undefined
      const isRestored = mode.way === 'restore'
      // More processes than processors would only be started for nothing.
      const servers = isRestored ? (options.servers ?? restoringServers) : Infinity
      // Tools are tried one after the other, and starting a process takes longer than restoring one.
      if (isRestored) {
        pool.limit(1)
        pool.open(servers)
      }
      for (const { spec, kind } of system.tools) if (kind === 'read') writers.delete(spec.name)
      if (profile !== undefined) generation.onProfile?.(profile)
      const probe = await probeTools(system, { ...generation, profile, missing: missingState(config) })
      pool.limit(servers)
      for (const reader of probe.readers) writers.delete(reader)
      const unused = [...admission.refused, ...probe.leftOut]
      // A tool that writes, or whose answers vary, cannot show the state.
      const unfit = unused.filter(
        ({ remedy, reason }) => remedy === 'state' || reason.startsWith(answersOtherwise),
      )
      const shown = specs.filter((spec) => !unfit.some(({ name: other }) => other === spec.name))
      const hint = remedyHint(name, shown, config, unused)
      const state = remedyHint(
        name,
        shown,
        config,
        unused.filter((tool) => tool.remedy === 'state'),
      )
      // By the kind of server, not by the rate that was asked for: the same server gives the same tasks.
      const cheap =
        limits.callsPerSecond === undefined && (profile?.reset === 'restore' || writers.size === 0)
      const { service } = config
      const isDear = !cheap || service?.reset !== undefined
      const most = isDear ? mostDearTasks : service === undefined ? Infinity : mostServiceTasks
      const counts = withMost(generation.counts, most)
      // More episodes than servers would only take turns, with a reset for each turn.
      const tasks = await generateTasks(system, probe, {
        concurrency: Math.min(size, servers),
        hint,
        ...generation,
        counts,
      })
      return { tasks, leftOut: probe.leftOut, profiles: probe.profiles, ...defined({ hint: state }) }
    },
  }
}

/** Most training tasks where each takes the start of a process or a command, or calls at a limited rate. */
const mostDearTasks = 800

/** Most training tasks where a service is reset for each, which takes longer than restoring files. */
const mostServiceTasks = 2000

function withMost(counts: TaskCounts, most: number): TaskCounts {
  return { ...counts, ...defined({ train: counts.train && Math.min(counts.train, most) }) }
}

/** Servers of a pool whose states are restored without a new process. */
const restoringServers = 3

/** What is known of a server, and runs, before any of its tools is called. */
interface Started extends ListedTools {
  slot: SlotPlan | undefined
  service: ReturnType<typeof serviceStarter> | undefined
  /** How the servers of the pool are started. */
  serverOptions: PooledServerOptions
  /** The server that listed the tools, until the pool takes it. */
  first: PooledServer | undefined
}

/** Starts the server once to list its tools, and plans its slots and its service. */
async function startOnce(
  options: McpEnvironmentOptions,
  given: Pick<PooledServerOptions, 'config' | 'redact' | 'mode' | 'limit'>,
): Promise<Started> {
  const { name, server, signal } = options
  const { config, redact } = given
  const planned = (some: ServerConfig): SlotPlan | undefined =>
    config.reset === 'slot' && 'command' in some
      ? planSlot(name, some, { megabytes: config.slotMegabytes })
      : undefined
  const service = config.service && serviceStarter(config.service, { redact })
  const optionsOf = (plan: SlotPlan | undefined): PooledServerOptions => ({
    ...given,
    server: plan?.server ?? server,
    plan,
    startService: service?.start,
  })
  try {
    // What npx has downloaded starts faster as a copy, and has for itself what it writes beside its code.
    const known = installedServer(server, true)
    const slot = planned(known)
    if (slot !== undefined && (known !== server || !isDownloaded(server))) {
      const { defaultConnectSeconds } = await import('../../tool/mcp-client.ts')
      const connectSeconds = config.connectSeconds ?? defaultConnectSeconds(server)
      const first = await openPooledServer({ ...optionsOf(slot), connectSeconds, signal })
      return { ...first.listed, slot, service, serverOptions: optionsOf(slot), first }
    }
    const listed = await listServerTools({ ...optionsOf(planned(server)), signal })
    // By now npx has downloaded the package.
    const later = planned(installedServer(server, true))
    return { ...listed, slot: later, service, serverOptions: optionsOf(later), first: undefined }
  } catch (error) {
    await service?.close()
    throw error
  }
}

const isDownloaded = (server: ServerConfig): boolean => 'command' in server && server.command === 'npx'

async function closeStarted(started: Started): Promise<void> {
  await started.first?.close()
  started.first = undefined
  await started.service?.close()
}

/** @throws AgogeError if a sandbox on this machine is not all that the server reaches. */
function checkReach(name: string, server: ServerConfig, redact: (text: string) => string): void {
  const reach = reachesOthers(server)
  if (reach === undefined) return
  throw new AgogeError(
    `--sandbox speaks for this machine, and the MCP server "${name}" seems to reach others: ${redact(reach)}`,
    {
      code: 'sandbox-remote',
      given: '--sandbox',
      expected: '--sandbox=remote, or single tools with --allow',
      hint: [
        'If everything that it reaches may be destroyed, on other hosts too:',
        '  --sandbox=remote',
        'Otherwise only tools that read run, and those that you name:',
        '  --allow TOOL',
      ].join('\n'),
    },
  )
}
