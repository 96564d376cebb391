import { createHash } from 'node:crypto'
import { defined } from '../../../defined.ts'
import type { Random } from '../../../engine/random/index.ts'
import type { Task } from '../../agent/types.ts'
import type { AnswerType } from './goals/value.ts'
import type { RequestStep } from './request/step-words.ts'
import type { AdmittedTool } from './safety.ts'
import type { PlainObject } from './salient.ts'
import type { JsonSchema } from '../../../untrusted/schema-check.ts'
import type { SampleContext } from './arguments/making.ts'
import { sampleArguments } from './arguments/sample-arguments.ts'
import { requiredOf } from './arguments/schema-parts.ts'
import { recordsIn } from './arguments/text-records.ts'
import { wordsOf } from './arguments/words.ts'
import type { StateCall } from './server/state-pool.ts'

export { recordsIn }

/** A generated task whose reference solution has been run. The expected result is the one that run produced. */
export interface McpTask extends Task {
  /** Calls that prepare the state before the policy starts. */
  seeds: StateCall[]
  /** The calls of the reference solution. Default: none are known. */
  reference?: readonly { name: string; arguments: Record<string, unknown> }[]
  expected: {
    /** Null if the task only changes the state. */
    answer: string | null
    /** How the answer is compared. Default: text. */
    type?: AnswerType
    /** Other values of the result. The answer must not list them too. */
    others: string[]
    /** Whether the items of a list have to be in this order. Default: false. */
    ordered?: boolean
    /** The observed state after the reference solution; null if the state cannot be observed. */
    state: string | null
  }
}

/** Identifies generated tasks by a hash of requests, records and expected results in order; 16 hexadecimal digits. */
export function fingerprintTasks(tasks: readonly McpTask[]): string {
  const hash = createHash('sha256')
  for (const { id, kind, prompt, difficulty, seeds, expected } of tasks)
    hash.update(`${JSON.stringify([id, kind, prompt, difficulty, seeds, expected])}\n`)
  return hash.digest('hex').slice(0, 16)
}

/** Identifies the calls, arguments and initial state of a task. */
export function planOf({ seeds, reference = [] }: Pick<McpTask, 'seeds' | 'reference'>): string {
  return JSON.stringify([seeds.map(({ name, arguments: args }) => [name, args]), reference])
}

/** The tools of a kind of task: one tool, or two if the second uses the result or the effect of the first. */
export interface KindPlan {
  name: string
  tools: readonly AdmittedTool[]
  /** Argument of the second tool that takes the result of the first. */
  linked?: string
  /** An optional argument that the task always sets, because without it the tool answers for the current time. */
  anchor?: string
}

/** A task before it is tried: the calls that prepare its state and the calls of its reference solution. */
export interface Draft {
  kind: KindPlan
  seeds: StateCall[]
  steps: RequestStep[]
}

interface DraftContext {
  /** Tools that create something in an empty state. */
  creators: readonly AdmittedTool[]
  /** Records seen in results of the initial state. */
  harvest: readonly PlainObject[]
}

/** Whether the server has records of its own. */
export function isFilled(harvest: readonly PlainObject[]): boolean {
  return harvest.length >= 8
}

/** Arguments of a call that prepares a state: mostly those that are required alone, which work most often. */
export function seedArguments(
  schema: JsonSchema,
  context: Pick<SampleContext, 'random' | 'words' | 'known'> & Partial<Pick<SampleContext, 'reuse'>>,
): Record<string, unknown> {
  const args = sampleArguments(schema, { reuse: false, ...context, changes: true, wants: 'changes' })
  const required = requiredOf(schema)
  if (required.length === 0 || context.random.next() < 0.2) return args
  return Object.fromEntries(Object.entries(args).filter(([name]) => required.includes(name)))
}

/**
 * Draws the preparing calls and the reference calls of a task. Running them shows whether they succeed and have an
 * effect.
 *
 * @throws UnusableSchema if no arguments match a schema.
 */
export function draftTask(
  kind: KindPlan,
  split: Task['split'],
  context: DraftContext,
  random: Random,
): Draft {
  const words = wordsOf(split)
  const seeds: StateCall[] = []
  const creates = context.creators.includes(kind.tools[0])
  const records =
    context.creators.length === 0 || (isFilled(context.harvest) && random.next() < 0.7)
      ? 0
      : creates
        ? random.int(2)
        : random.next() < 0.65
          ? 1
          : 2
  const recent: PlainObject[] = []
  for (let record = 0; record < records; record++) {
    const { spec } = random.pick(context.creators)
    const args = seedArguments(spec.inputSchema, { random, words, known: context.harvest })
    seeds.push({ name: spec.name, arguments: args })
    recent.push(...recordsIn(args))
  }
  const steps = kind.tools.map((tool, index): RequestStep => {
    const after = index > 0 && kind.tools[0].kind === 'write'
    const some = context.harvest.length + recent.length > 0
    const reuse = after || (!creates && some && random.next() < 0.9)
    const args = sampleArguments(tool.spec.inputSchema, {
      random,
      words,
      known: context.harvest,
      recent,
      reuse,
      changes: tool.kind !== 'read',
      wants: tool.kind === 'unknown' ? undefined : tool.kind === 'read' ? 'reads' : 'changes',
      ...defined({ always: kind.anchor }),
    })
    if (tool.kind === 'write') recent.push(...recordsIn(args))
    if (index === 0 || kind.linked === undefined) return { tool: tool.spec.name, arguments: args }
    // The linked argument is a placeholder; the previous step's result replaces it.
    return {
      tool: tool.spec.name,
      arguments: kind.linked in args ? args : { ...args, [kind.linked]: '' },
      linked: kind.linked,
    }
  })
  return { kind, seeds, steps }
}
