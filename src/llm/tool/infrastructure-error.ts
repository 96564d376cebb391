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
