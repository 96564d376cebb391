import type { JsonSchema } from '../../untrusted/schema-check.ts'

/** What the policy sees of a tool, whatever stands behind it. */
export interface ToolSpec {
  name: string
  description?: string
  inputSchema: JsonSchema
  outputSchema?: JsonSchema
  annotations?: {
    readOnlyHint?: boolean
    destructiveHint?: boolean
    idempotentHint?: boolean
    openEnvironmentHint?: boolean
  }
}

/** What a tool gave back. `isError` is the tool's own word (the agent's fault), never a fault of infrastructure. */
export interface ToolResult {
  text: string
  isError: boolean
  structured?: unknown
  /** What the environment pays for this call, where it pays for steps; finite. It is credited to the turn that made the call. */
  reward?: number
}

export interface ToolCallOptions {
  signal?: AbortSignal
  /** Idempotency key of this step. */
  id?: string
  /**
   * Told true where the call begins to wait for a server, its state or its rate, and false where it goes on: deadlines of the caller
   * stand still meanwhile.
   */
  onWait?: (waiting: boolean) => void
}

/** A set of tools that can be called; the same shape for an MCP server and for functions in this process. */
export interface Toolbox {
  specs: ToolSpec[]
  /** Throws `InfrastructureError` where the environment, not the agent, is at fault (crash, hang, lost connection). */
  call(name: string, args: Record<string, unknown>, options?: ToolCallOptions): Promise<ToolResult>
}

/**
 * The environment broke, not the agent: a server that crashed, hung or could not be reached. An episode that meets
 * one is masked; it never becomes a zero reward.
 */
export class InfrastructureError extends Error {
  /** What to do about it, where that is known. */
  readonly hint: string | undefined

  constructor(message: string, options: { cause?: unknown; hint?: string } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'InfrastructureError'
    this.hint = options.hint
  }
}
