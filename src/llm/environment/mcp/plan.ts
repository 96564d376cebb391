import { randomBytes, scryptSync } from 'node:crypto'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { AgogeError } from '../../../error.ts'
import { visibleBlock, visibleLine } from '../../../untrusted/visible-text.ts'
import type { McpEnvironmentConfig } from './environment-config.ts'
import type { Admission } from './safety.ts'
import type { CallLimit } from './server/call-limit.ts'

interface PlanFacts {
  server: string
  /** How the server is reached, without secrets: a command line or a host. */
  address: string
  admission: Admission
  config: McpEnvironmentConfig
  limit: CallLimit
  /** Most calls that are made to find out what the tools do. Default: they are not tried in this way. */
  tries?: number | undefined
  /** What else a person should know, as sentences. */
  remarks?: readonly string[]
}

const noReset = 'not at all: tasks only read'
const resets = {
  restart: 'by a new process',
  slot: 'by restoring the folder that each of its processes has for itself',
  none: noReset,
  auto: noReset,
}

/** Width of the column of tool names; longer names are cut to it. */
const nameColumn = 40
const longestName = 128
const longestAddress = 300
const longestRemark = 1000

const effects = {
  read: 'reads',
  write: 'MAY CHANGE STATE',
  unknown: 'MAY CHANGE STATE: it is tried first',
} as const

/**
 * The text shown before the first call: which tools run, the limit and rate of calls, and what happens to the state.
 */
export function describePlan(facts: PlanFacts): string {
  const { admission, limit, config } = facts
  const name = (text: string): string => visibleLine(text, longestName)
  const widest = Math.max(...admission.admitted.map((tool) => name(tool.spec.name).length), 4)
  const width = Math.min(widest, nameColumn)
  const reset =
    typeof config.reset === 'string'
      ? resets[config.reset]
      : 'command' in config.reset
        ? `by the command ${config.reset.command}`
        : 'files' in config.reset
          ? `by putting back ${config.reset.files.join(', ')}`
          : 'by emptying its root folder'
  const rate = limit.callsPerSecond
  return [
    ...(facts.tries === undefined
      ? []
      : [`Up to ${facts.tries} calls will be made to find out what the tools of "${facts.server}" do.`]),
    `Agoge will call tools of "${facts.server}" (${visibleLine(facts.address, longestAddress)}):`,
    ...admission.admitted.map(
      (tool) => `  ${name(tool.spec.name).padEnd(width)}  ${effects[tool.kind]} (${tool.why})`,
    ),
    ...(admission.refused.length === 0 ? [] : ['and will not call:']),
    ...admission.refused.map((tool) => `  ${name(tool.name)}: ${visibleBlock(tool.reason, '      ')}`),
    `at most ${limit.maxCalls} calls in all, ${rate === undefined ? 'as fast as it answers' : `at most ${rate} a second`}.`,
    `State is reset ${reset}${config.observe.length === 0 ? '' : `, observed with ${config.observe.join(', ')}`}.`,
    ...(facts.remarks ?? []).map((remark) => `${visibleLine(remark, longestRemark)}.`),
  ].join('\n')
}

interface ConfirmOptions {
  /** `--yes`: agrees without asking. */
  yes?: boolean
  input?: Readable & { isTTY?: boolean }
  output?: Writable
  signal?: AbortSignal
}

/**
 * Shows the plan and asks y/N on a terminal. Ctrl-C interrupts the program; Ctrl-D means no.
 *
 * @throws AgogeError if the answer is no, or if nobody can be asked and `yes` is not set.
 */
export async function confirmPlan(text: string, options: ConfirmOptions = {}): Promise<void> {
  const input = options.input ?? process.stdin
  const output = options.output ?? process.stderr
  output.write(`${text}\n`)
  if (options.yes === true) return
  if (input.isTTY !== true) {
    throw new AgogeError('the plan of calls needs a yes, and there is no terminal to ask at', {
      code: 'confirmation-needed',
      expected: 'a terminal, or --yes',
      hint: 'read the plan above and add --yes',
    })
  }
  const reply = await askLine('Go on? [y/N] ', input, output, options.signal)
  if (reply !== null && /^y(es)?$/i.test(reply.trim())) return
  throw new AgogeError('stopped: the plan of calls was not confirmed', { code: 'not-confirmed' })
}

/** Returns the line typed after a question; null if the input ends first. Rejects with the signal's reason. */
function askLine(
  question: string,
  input: Readable,
  output: Writable,
  signal: AbortSignal | undefined,
): Promise<string | null> {
  signal?.throwIfAborted()
  const lines = createInterface({ input, output, terminal: true })
  const abort = (): void => lines.close()
  return new Promise<string | null>((resolve, reject) => {
    lines.once('line', resolve)
    lines.once('close', () => (signal?.aborted === true ? reject(signal.reason) : resolve(null)))
    // In raw mode readline handles Ctrl-C itself, but the program must receive it.
    lines.on('SIGINT', () => process.kill(process.pid, 'SIGINT'))
    signal?.addEventListener('abort', abort, { once: true })
    lines.setPrompt(question)
    lines.prompt()
  }).finally(() => {
    signal?.removeEventListener('abort', abort)
    lines.close()
  })
}

/**
 * Hash of the plan that a person agreed to. A run stores it and compares it when it resumes. It is salted and slow to
 * compute, so that nobody can guess configured secrets from it.
 */
export function hashOf(agreed: unknown, salt: string = randomBytes(8).toString('hex')): string {
  return `${salt}:${scryptSync(JSON.stringify(agreed), salt, 24).toString('hex')}`
}

export function isHashOf(hash: string, agreed: unknown): boolean {
  const [salt] = hash.split(':')
  return hashOf(agreed, salt) === hash
}
