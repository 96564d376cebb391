/** What an error is about, for programs: stable, one meaning each. `docs/reference/errors.md` says what each means. */
export type ErrorCode =
  | 'arm-failed'
  | 'bad-answer'
  | 'bad-argument'
  | 'bad-chat-template'
  | 'bad-checkpoint'
  | 'bad-colour'
  | 'bad-config'
  | 'bad-context'
  | 'bad-difficulty'
  | 'bad-environment'
  | 'bad-environment-file'
  | 'bad-episode'
  | 'bad-folder'
  | 'bad-grammar'
  | 'bad-lora'
  | 'bad-loss-settings'
  | 'bad-map'
  | 'bad-mcp-config'
  | 'bad-model'
  | 'bad-model-config'
  | 'bad-model-url'
  | 'bad-optim-step'
  | 'bad-option'
  | 'bad-paper'
  | 'bad-plan'
  | 'bad-reward'
  | 'bad-run'
  | 'bad-run-folder'
  | 'bad-sampling-options'
  | 'bad-setup'
  | 'bad-shape'
  | 'bad-step'
  | 'bad-symbol'
  | 'bad-tasks'
  | 'bad-temperature'
  | 'bad-template'
  | 'bad-tinker-url'
  | 'bad-token'
  | 'bad-tokenizer'
  | 'bad-tool'
  | 'bad-tool-schema'
  | 'bad-tools'
  | 'bad-traces'
  | 'bad-trainable'
  | 'busy'
  | 'call-budget'
  | 'cancelled'
  | 'cannot-listen'
  | 'chat-template-failed'
  | 'checkpoint-mismatch'
  | 'checkpoint-not-written'
  | 'compile-failed'
  | 'confirmation-needed'
  | 'deadline'
  | 'disposed'
  | 'duplicate-model'
  | 'duplicate-task'
  | 'earlier-version'
  | 'empty-mask'
  | 'empty-replay'
  | 'empty-split'
  | 'endless-episode'
  | 'environment-broken'
  | 'environment-check'
  | 'environment-threw'
  | 'folder-not-empty'
  | 'gradient-not-finite'
  | 'grammar-stuck'
  | 'grammar-too-large'
  | 'hub-unreachable'
  | 'invalid-action'
  | 'masked-action'
  | 'memory-budget'
  | 'missing-input'
  | 'missing-package'
  | 'missing-runtime'
  | 'missing-variable'
  | 'model-endpoint-refused'
  | 'model-endpoint-unreachable'
  | 'model-exists'
  | 'model-too-large'
  | 'needs-key'
  | 'no-action'
  | 'no-adapter'
  | 'no-chat-template'
  | 'no-device'
  | 'no-drawing'
  | 'no-flat-size'
  | 'no-gradient'
  | 'no-model'
  | 'no-plan'
  | 'no-reference'
  | 'no-rows'
  | 'no-run'
  | 'no-samples'
  | 'no-service'
  | 'no-stop-token'
  | 'no-tasks'
  | 'no-tokenizer'
  | 'no-tool-calls'
  | 'no-tools'
  | 'non-finite-logits'
  | 'non-finite-loss'
  | 'not-a-number'
  | 'not-an-environment'
  | 'not-confirmed'
  | 'not-constrained'
  | 'not-converged'
  | 'not-finite'
  | 'not-in-space'
  | 'not-loaded'
  | 'not-resumable'
  | 'nothing-allowed'
  | 'nothing-to-learn'
  | 'other-base'
  | 'overloaded'
  | 'plan-changed'
  | 'plan-uncommitted'
  | 'port-taken'
  | 'released-program'
  | 'remote-model'
  | 'reset-needed'
  | 'resume-mismatch'
  | 'reward-broken'
  | 'run-exists'
  | 'run-failed'
  | 'run-in-use'
  | 'sandbox-remote'
  | 'seed-process'
  | 'seeds-used'
  | 'sequence-too-long'
  | 'server-command-failed'
  | 'server-command-not-found'
  | 'shape-mismatch'
  | 'sign-in-failed'
  | 'slot-too-large'
  | 'stale-build'
  | 'thread-stopped'
  | 'tinker-bad-answer'
  | 'tinker-bad-request'
  | 'tinker-billing'
  | 'tinker-body-too-large'
  | 'tinker-busy'
  | 'tinker-closing'
  | 'tinker-conflict'
  | 'tinker-deadline'
  | 'tinker-forbidden'
  | 'tinker-gone'
  | 'tinker-media-type'
  | 'tinker-model'
  | 'tinker-needs-key'
  | 'tinker-no-such-call'
  | 'tinker-not-found'
  | 'tinker-overloaded'
  | 'tinker-port'
  | 'tinker-refused'
  | 'tinker-request-failed'
  | 'tinker-server-error'
  | 'tinker-state-unknown'
  | 'tinker-too-large'
  | 'tinker-too-many-models'
  | 'tinker-unauthorised'
  | 'tinker-unreachable'
  | 'tinker-vocabulary'
  | 'too-few-demonstrations'
  | 'too-large'
  | 'tool-not-allowed'
  | 'unbounded-action'
  | 'unknown-algorithm'
  | 'unknown-bonus'
  | 'unknown-context'
  | 'unknown-device'
  | 'unknown-encoder'
  | 'unknown-environment'
  | 'unknown-feature'
  | 'unknown-format'
  | 'unknown-kind'
  | 'unknown-model'
  | 'unknown-paper'
  | 'unknown-preset'
  | 'unknown-server'
  | 'unknown-set'
  | 'unknown-setting'
  | 'unknown-size'
  | 'unknown-special-token'
  | 'unknown-tool'
  | 'unpaired'
  | 'unsolvable-task'
  | 'unsuitable-algorithm'
  | 'unsupported'
  | 'unsupported-adapter'
  | 'unsupported-architecture'
  | 'unsupported-content'
  | 'unsupported-device'
  | 'unsupported-loss'
  | 'unsupported-optimizer'
  | 'unsupported-overlap'
  | 'unsupported-pattern'
  | 'unsupported-sampling'
  | 'unsupported-schema'
  | 'unsupported-space'
  | 'unsupported-temperature'
  | 'unsupported-type'
  | 'unsupported-weights'
  | 'unusable-path'
  | 'unused-weights'
  | 'weights-not-finite'
  | 'worker-ended'

/** Facts that make an error useful: what was given, what was expected, and what to do about it. */
export interface AgogeErrorDetails {
  /** Stable, kebab-case, for programs. */
  code: ErrorCode
  given?: unknown
  expected?: string
  hint?: string
  cause?: unknown
}

const marker = Symbol.for('agoge.error')

/**
 * The one error type that Agoge throws on purpose. `message` names the problem in one line; the CLI prints
 * `given`, `expected` and `hint` below it, and a stack trace only with `--debug`.
 *
 * @example
 * try {
 *   await loadModel('no-such-folder')
 * } catch (error) {
 *   if (!AgogeError.isInstance(error)) throw error
 *   console.error(error.code, error.hint)
 * }
 */
export class AgogeError extends Error {
  readonly code: ErrorCode
  readonly given: unknown
  readonly expected: string | undefined
  readonly hint: string | undefined
  readonly [marker] = true

  constructor(message: string, details: AgogeErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause })
    this.name = 'AgogeError'
    this.code = details.code
    this.given = details.given
    this.expected = details.expected
    this.hint = details.hint
  }

  /** True for any copy of the class, also one from another installed version of the package. */
  static isInstance(value: unknown): value is AgogeError {
    return typeof value === 'object' && value !== null && marker in value
  }
}

/** An `AgogeError` as data: threads are sent no classes. */
export interface ErrorData {
  message: string
  details: AgogeErrorDetails
}

/** What can be sent to another thread of an `AgogeError`: all but its cause. */
export function errorData({ message, code, given, expected, hint }: AgogeError): ErrorData {
  return { message, details: { code, given, ...(expected && { expected }), ...(hint && { hint }) } }
}
