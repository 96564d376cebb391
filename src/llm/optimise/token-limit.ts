import type { ModelBackend } from '../model-backend.ts'

/** The reason with which a training is stopped whose tokens are used. */
export class TokenLimit extends Error {
  constructor() {
    super('the tokens of the training are used')
    this.name = 'TokenLimit'
  }
}

/** A backend whose tokens are counted. */
export interface LimitedBackend<Backend> {
  backend: Backend
  /** Tokens of prompts, answers and updates so far. At most the limit. */
  used: () => number
  /** Steps of the optimiser so far. */
  updates: () => number
  /** Aborts with `TokenLimit`, or with the signal that was given. */
  signal: AbortSignal
}

/**
 * Counts the tokens that a backend samples and is trained on, and stops before a call that could exceed the limit. The weights are then those of the
 * last whole update.
 */
export function limitTokens<Backend extends ModelBackend>(
  backend: Backend,
  limit: number,
  signal: AbortSignal,
): LimitedBackend<Backend> {
  const stop = new AbortController()
  let [used, updates] = [0, 0]
  const checkFits = (most: number): void => {
    if (used + most > limit) stop.abort(new TokenLimit())
    stop.signal.throwIfAborted()
  }
  const lengths = (rows: readonly { length: number }[]): number =>
    rows.reduce((sum, { length }) => sum + length, 0)
  const own: Partial<ModelBackend> = {
    async sample(requests, options) {
      const prompts = lengths(requests.map(({ prompt }) => prompt))
      const answers = requests.reduce((sum, { maxTokens = options.maxTokens }) => sum + maxTokens, 0)
      checkFits(prompts + answers)
      // Counted with the most while they are under way, since others may ask at the same time.
      used += prompts + answers
      const outputs = await backend.sample(requests, options)
      used -= answers - lengths(outputs.map(({ tokens }) => tokens))
      return outputs
    },
    async forwardBackward(sequences, loss, options) {
      const tokens = lengths(sequences.map((sequence) => sequence.tokens))
      checkFits(tokens)
      used += tokens
      return backend.forwardBackward(sequences, loss, options)
    },
    async optimStep(step) {
      const report = await backend.optimStep(step)
      updates += 1
      return report
    },
  }
  const counted = Object.create(
    backend,
    Object.fromEntries(Object.entries(own).map(([name, value]) => [name, { value, enumerable: true }])),
  ) as Backend
  return {
    backend: counted,
    used: () => used,
    updates: () => updates,
    signal: AbortSignal.any([signal, stop.signal]),
  }
}
