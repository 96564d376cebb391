import type { JsonSchema } from '../../untrusted/schema-check.ts'

/** A tool as the policy sees it: the same for an MCP server and for a function in this process. */
export interface ToolSpec {
  name: string
  description?: string
  inputSchema: JsonSchema
  outputSchema?: JsonSchema
  annotations?: {
    readOnlyHint?: boolean
    destructiveHint?: boolean
    idempotentHint?: boolean
    openWorldHint?: boolean
  }
}

/**
 * The result of a call. `isError` means that the tool reports an error, which is the agent's fault. A failure of the
 * infrastructure throws instead.
 */
export interface ToolResult {
  text: string
  isError: boolean
  structured?: unknown
  /**
   * The reward of this call, a finite number, in environments that reward steps. It goes to the turn that made the
   * call.
   */
  reward?: number
}

export interface ToolCallOptions {
  signal?: AbortSignal
  /** Idempotency key of this step. */
  id?: string
  /**
   * Called with true when the call starts to wait for a server, its state or its rate limit, and with false when it
   * continues. The caller's deadlines pause while it waits.
   */
  onWait?: (waiting: boolean) => void
}

/** A set of tools that can be called: those of an MCP server, or functions in this process. */
export interface Toolbox {
  specs: ToolSpec[]
  /**
   * Calls a tool.
   * @throws InfrastructureError if the environment fails and the agent is not at fault: a crash, a hang or a lost
   * connection.
   */
  call(name: string, args: Record<string, unknown>, options?: ToolCallOptions): Promise<ToolResult>
}

/**
 * A failure of the environment that is not the agent's fault: a server crashed, hung or could not be reached. The
 * episode is masked; it never counts as a reward of zero.
 *
 * @example
 * const response = await fetch('http://127.0.0.1:9000/orders')
 * if (!response.ok) throw new InfrastructureError('the shop does not answer', { hint: 'Start it first.' })
 */
export class InfrastructureError extends Error {
  /** How to repair it, if known. */
  readonly hint: string | undefined

  constructor(message: string, options: { cause?: unknown; hint?: string } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'InfrastructureError'
    this.hint = options.hint
  }
}
