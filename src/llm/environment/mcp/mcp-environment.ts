import { readFileSync } from 'node:fs'
import { defined } from '../../../defined.ts'
import type { ToolEnvironment } from '../../agent/types.ts'
import { createRedactor } from '../../tool/redact.ts'
import {
  listServers,
  type ReadConfigOptions,
  readServerConfig,
  resolveServer,
  type ServerConfig,
} from '../../tool/server-config.ts'
import {
  type McpEnvironmentConfig,
  missingState,
  parseEnvironmentConfig,
  readOnlyEnvironment,
} from './environment-config.ts'
import type { McpTask } from './mcp-task.ts'
import { describePlan, hashOf, isHashOf } from './plan.ts'
import { answersOtherwise } from './repeatable.ts'
import { type Admission, type AdmissionOptions, admitTools, remedyHint } from './safety.ts'
import { isPlainObject } from './salient.ts'
import {
  type CallLimit,
  canRunSideBySide,
  createCallLimit,
  listServerTools,
  openPooledServer,
} from './pooled-server.ts'
import { createStatePool } from './state-pool.ts'
import { type GeneratedTasks, generateTasks, type TaskGenerationOptions } from './task-generation.ts'
import { type Probe, probeTools } from './tool-probing.ts'
import { createSystemEnvironment, createToolSystem } from './tool-system.ts'

export interface McpEnvironmentOptions extends AdmissionOptions {
  /** The server's name in the configuration. */
  name: string
  server: ServerConfig
  /** The `agoge` entry of the server; absent = a live system that is only read. */
  config?: McpEnvironmentConfig
  /** Calls in all, preparing and observing included. Default: see `callLimits`. */
  maxCalls?: number
  /** Default: see `callLimits`. */
  callsPerSecond?: number
  /** Server processes at most, where they can run side by side. Default 4; 8 where a reset is a restart. At most 16. */
  servers?: number
  /** Characters of a result that the window shows. Default: what `config` says, else 300. */
  resultLimit?: number
  /** Rewrites all that the server says (tools, results, faults) before anything else sees it, to hide secrets. */
  redact?: (text: string) => string
  signal?: AbortSignal
}

export interface McpEnvironment extends ToolEnvironment<McpTask> {
  /** The plan of calls in words; no tool was called before it could be shown. */
  readonly plan: string
  /** True where tools may run that are not annotated as reading only: a person should say yes to the plan. */
  readonly needsConsent: boolean
  /** a hash of the plan and of the server it is for, to be kept with what a person agreed to; `isAgreed` recognises it. */
  agreement(): string
  /** Whether this is the hash of the same plan for the same server, configured values included. */
  isAgreed(hash: string): boolean
  readonly admission: Admission
  readonly limit: CallLimit
  /** Tries the tools, then makes and proves tasks. `leftOut` names the tools that carry none, and why. */
  prepareTasks(options: TaskGenerationOptions): Promise<PreparedTasks>
}

interface PreparedTasks {
  tasks: GeneratedTasks
  /** Tools of which no task is made, with the reason; those that were refused before the first call are in `admission`. */
  leftOut: Probe['leftOut']
  /** The lines to write into `.mcp.json` so that tools that change something can be used; absent where there are none. */
  hint?: string
}

/**
 * How often and how fast a server is called by default. A local process may stand in front of a live system as well as
 * a remote one does, so only a sandbox is called as fast as it answers.
 */
export function callLimits(
  remote: boolean,
  sandbox: boolean,
): { maxCalls: number; callsPerSecond: number | undefined } {
  if (remote) return { maxCalls: 5_000, callsPerSecond: 5 }
  return sandbox ? { maxCalls: 200_000, callsPerSecond: undefined } : { maxCalls: 40_000, callsPerSecond: 50 }
}

/**
 * Connects to an MCP server, lists its tools and decides which may run. Calls none of them: show `plan` first.
 *
 * @throws AgogeError for a server without usable tools; InfrastructureError where it does not come up.
 */
export async function createMcpEnvironment(options: McpEnvironmentOptions): Promise<McpEnvironment> {
  const { name, server, signal } = options
  const config = options.config ?? readOnlyEnvironment
  const redact = options.redact ?? ((text: string) => text)
  const remote = 'url' in server
  const { specs, unusable } = await listServerTools({ server, config, redact, signal })
  const admission = admitTools(name, specs, config, { ...options, unusable })
  const limits = callLimits(remote, options.sandbox === true)
  const limit = createCallLimit({
    allowed: admission.admitted.map((tool) => tool.spec.name),
    maxCalls: options.maxCalls ?? limits.maxCalls,
    callsPerSecond: options.callsPerSecond ?? limits.callsPerSecond,
  })
  const address = remote ? new URL(server.url).host : [server.command, ...(server.args ?? [])].join(' ')
  const writers = new Set(
    // Where nothing is put back there is nothing to repeat.
    admission.admitted
      .filter((tool) => tool.kind !== 'read' && config.reset !== 'none')
      .map((tool) => tool.spec.name),
  )
  const wanted = Math.min(
    16,
    options.servers ?? (config.reset === 'restart' && writers.size > 0 ? 8 : remote ? 1 : 4),
  )
  const size = canRunSideBySide(server, config) ? wanted : 1
  const pool = createStatePool({
    size,
    open: () => openPooledServer({ server, config, limit, redact, signal }),
    writes: (tool) => writers.has(tool),
  })
  const system = createToolSystem({
    name: `mcp:${name}`,
    tools: admission.admitted,
    pool,
    observe: config.reset === 'none' ? [] : config.observe,
    ignore: config.ignore ?? [],
    resultLimit: options.resultLimit ?? config.resultLimit,
  })
  const plan = redact(describePlan({ server: name, address, admission, config, limit }))
  const agreed = { server, config, plan }
  const environment = createSystemEnvironment(system)
  return {
    ...environment,
    // Which tools are offered is settled when tasks are prepared.
    get tools() {
      return environment.tools
    },
    // What cannot be put back, or makes up ids, may answer otherwise another time.
    deterministic: config.reset !== 'none' && config.ignore === undefined,
    plan,
    agreement: () => hashOf(agreed),
    isAgreed: (hash) => isHashOf(hash, agreed),
    needsConsent: admission.admitted.some((tool) => tool.why !== 'readOnlyHint'),
    admission,
    limit,
    async prepareTasks(generation) {
      const probe = await probeTools(system, { ...generation, missing: missingState(config) })
      for (const reader of probe.readers) writers.delete(reader)
      const unused = [...admission.refused, ...probe.leftOut]
      // What writes or never answers the same cannot show the state.
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
      // More at a time than there are servers would only make them take turns, with a reset at each.
      const tasks = await generateTasks(system, probe, { concurrency: size, hint, ...generation })
      return { tasks, leftOut: probe.leftOut, ...defined({ hint: state }) }
    },
  }
}

/**
 * The `agoge` entry of a server, beside `mcpServers` in the same file: how its state is reset and observed.
 * Without one the server is a live system that is only read.
 *
 * @throws AgogeError naming the file and the field that cannot be used.
 */
function readEnvironmentConfig(name: string, options: ReadConfigOptions = {}): McpEnvironmentConfig {
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
 * half a second later and with a process more for every server.
 */
function installedServer(server: ServerConfig): ServerConfig {
  if ('url' in server || server.command !== 'npx') return server
  const args = (server.args ?? []).filter((argument) => argument !== '-y' && argument !== '--yes')
  const [, name, version] = /^((?:@[\w.-]+\/)?[\w.-]+)@(\d[\w.-]*)$/.exec(args[0] ?? '') ?? []
  if (name === undefined || version === undefined) return server
  const found = resolveServer({ package: name, version, args: args.slice(1) }, server.cwd ?? process.cwd())
  if (found.source !== 'installed' || found.version !== version || !('command' in found.config)) return server
  return { ...server, command: found.config.command, args: found.config.args ?? [] }
}
