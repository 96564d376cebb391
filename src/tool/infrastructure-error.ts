/**
 * The world broke, not the agent: a server that crashed, hung or could not be reached. An episode that meets
 * one is masked; it never becomes a zero reward.
 */
export class InfrastructureError extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options)
    this.name = 'InfrastructureError'
  }
}
