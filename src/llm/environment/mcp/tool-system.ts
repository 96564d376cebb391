import type { ToolResult, ToolSpec } from '../../tool/tool.ts'
import { compactResult, defaultResultLimit } from './compact-result.ts'
import { normaliseObservation } from './observed-state.ts'
import type { AdmittedTool } from './safety.ts'
import type { EpisodeState, StateCallOptions, StatePool } from './state-pool.ts'
import { filesObserver } from './environment-config.ts'

/** Tools over a state that every episode has for itself: a foreign server, or functions in this process. */
export interface ToolSystem {
  readonly name: string
  readonly tools: readonly AdmittedTool[]
  /** The tools that a policy is shown and may call: those that were not left out. The others still set scenes and show the state. */
  readonly offered: readonly AdmittedTool[]
  /** Offers all tools but these from now on. */
  leaveOut(names: Iterable<string>): void
  /** True where the state can be put back and seen, so that tasks may change it. */
  readonly changeable: boolean
  /** Characters of a result that the window shows. */
  readonly resultLimit: number
  /** Names of properties whose values are made up anew: left out of states and results that are compared. */
  readonly ignore: readonly string[]
  /** Runs a tool in the state of an episode; the result is as the window shows it (short, always the same). */
  call(
    state: EpisodeState,
    name: string,
    args: Record<string, unknown>,
    options?: StateCallOptions,
  ): Promise<ToolResult>
  /** The same with the whole result, for whoever looks for values in it. */
  look(
    state: EpisodeState,
    name: string,
    args: Record<string, unknown>,
    options?: StateCallOptions,
  ): Promise<ToolResult>
  /** Starts servers anew for the calls to come: what they kept in memory is gone. */
  restart(): Promise<void>
  /** The state in comparable form, or null where it cannot be seen. */
  observe(state: EpisodeState, signal?: AbortSignal): Promise<string | null>
  close(): Promise<void>
}

export interface ToolSystemOptions {
  name: string
  tools: readonly AdmittedTool[]
  pool: StatePool
  /** Names of the tools that show the state. */
  observe: readonly string[]
  ignore?: readonly string[]
  /** Characters of a result that the window shows. Default 300. */
  resultLimit?: number | undefined
}

export function createToolSystem(options: ToolSystemOptions): ToolSystem {
  const { pool, resultLimit = defaultResultLimit } = options
  let offered = options.tools
  return {
    name: options.name,
    tools: options.tools,
    get offered() {
      return offered
    },
    leaveOut(names) {
      const left = new Set(names)
      offered = options.tools.filter((tool) => !left.has(tool.spec.name))
    },
    changeable: options.observe.length > 0,
    resultLimit,
    ignore: options.ignore ?? [],
    look: (...given) => pool.call(...given),
    restart: () => pool.restart(),
    async call(state, name, args, callOptions) {
      const result = await pool.call(state, name, args, callOptions)
      return { text: compactResult(result.text, resultLimit), isError: result.isError }
    },
    async observe(state, signal) {
      if (options.observe.length === 0) return null
      const seen: string[] = []
      for (const name of options.observe) {
        if (name === filesObserver) {
          seen.push(await pool.describe(state, signal))
          continue
        }
        const result = await pool.call(state, name, {}, { signal })
        seen.push(`${result.isError ? 'error: ' : ''}${normaliseObservation(result.text, options.ignore)}`)
      }
      return seen.join('\n')
    },
    close: () => pool.close(),
  }
}

/** The specs of the tools that the policy may use. */
export function specsOf(tools: readonly AdmittedTool[]): ToolSpec[] {
  return tools.map((tool) => tool.spec)
}
