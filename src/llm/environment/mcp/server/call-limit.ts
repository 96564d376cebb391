import { AgogeError } from '../../../../error.ts'
import type { Toolbox } from '../../../tool/tool.ts'
import { manyWaiters } from '../../../tool/waiting.ts'

interface LimitOptions {
  /** Tools that may be called. Other names are refused. */
  allowed: Iterable<string>
  /** Total number of calls over all toolboxes behind these limits. */
  maxCalls: number
  /** Calls per second in total. Default: no limit. */
  callsPerSecond?: number | undefined
}

/** Counts, paces and refuses calls. All connections to a server share one instance. */
export interface CallLimit {
  readonly allowed: ReadonlySet<string>
  readonly maxCalls: number
  readonly callsPerSecond: number | undefined
  /** Calls made so far, in total and by tool. */
  used(): { total: number; tools: Record<string, number> }
  /**
   * Resolves when the call may be made.
   *
   * @throws AgogeError for a refused tool or a spent budget.
   */
  admit(tool: string, signal?: AbortSignal): Promise<void>
}

export function createCallLimit(options: LimitOptions): CallLimit {
  const allowed = new Set(options.allowed)
  const tools = new Map<string, number>()
  const gap = options.callsPerSecond === undefined ? 0 : 1000 / options.callsPerSecond
  let total = 0
  let next = 0
  return {
    allowed,
    maxCalls: options.maxCalls,
    callsPerSecond: options.callsPerSecond,
    used: () => ({ total, tools: Object.fromEntries(tools) }),
    async admit(tool, signal) {
      signal?.throwIfAborted()
      if (!allowed.has(tool)) {
        throw new AgogeError(`the tool "${tool}" is not allowed to run`, {
          code: 'tool-not-allowed',
          given: tool,
          expected: `one of: ${[...allowed].join(', ') || '(none)'}`,
          hint: `admit it with --allow ${tool}, or with --sandbox if the state behind the server may be destroyed`,
        })
      }
      if (total >= options.maxCalls) {
        throw new AgogeError(`the budget of ${options.maxCalls} calls is spent`, {
          code: 'call-budget',
          given: tool,
          expected: `at most ${options.maxCalls} calls`,
          hint: 'raise it with --max-calls, or ask for fewer tasks or steps',
        })
      }
      total++
      tools.set(tool, (tools.get(tool) ?? 0) + 1)
      if (gap === 0) return
      const now = performance.now()
      const at = Math.max(now, next)
      next = at + gap
      if (at > now) await pause(at - now, signal)
    },
  }
}

/** Applies the limits to a toolbox. Refused tools are neither listed nor called. */
export function limitToolbox(toolbox: Toolbox, limit: CallLimit): Toolbox {
  return {
    specs: toolbox.specs.filter((spec) => limit.allowed.has(spec.name)),
    async call(name, args, options) {
      options?.onWait?.(true)
      await limit.admit(name, options?.signal)
      options?.onWait?.(false)
      return toolbox.call(name, args, options)
    },
  }
}

function pause(milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', aborted)
      resolve()
    }, milliseconds)
    manyWaiters(signal)
    signal?.addEventListener('abort', aborted, { once: true })
  })
}
