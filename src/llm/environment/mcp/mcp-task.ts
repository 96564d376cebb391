import { createHash } from 'node:crypto'
import { defined } from '../../../defined.ts'
import type { Random } from '../../../engine/random/index.ts'
import type { Task } from '../../agent/types.ts'
import type { RequestStep } from './request.ts'
import type { AdmittedTool } from './safety.ts'
import { isPlainObject, objectsIn, type PlainObject } from './salient.ts'
import { sampleArguments } from './sample-arguments.ts'
import { wordsOf } from './sample-string.ts'
import type { StateCall } from './state-pool.ts'

/** A generated task whose reference solution was executed: what is expected is what really came out. */
export interface McpTask extends Task {
  /** Calls that prepare the state before the policy begins. */
  seeds: StateCall[]
  expected: {
    /** Null where the task only changes something. */
    answer: string | null
    /** Other values of the result, which the answer must not list too. */
    others: string[]
    /** The observed state that the reference leaves; null where it cannot be observed. */
    state: string | null
  }
}

/** What identifies generated tasks: equal for equal requests, records and expected results in the same order; 16 hexadecimal digits. */
export function fingerprintTasks(tasks: readonly McpTask[]): string {
  const hash = createHash('sha256')
  for (const { id, kind, prompt, difficulty, seeds, expected } of tasks)
    hash.update(`${JSON.stringify([id, kind, prompt, difficulty, seeds, expected])}\n`)
  return hash.digest('hex').slice(0, 16)
}

/** What a kind of task consists of: one tool, or two where the second uses the result or the effect of the first. */
export interface KindPlan {
  name: string
  tools: readonly AdmittedTool[]
  /** Argument of the second tool that is the result of the first. */
  linked?: string
  /** An optional argument without which the tool speaks of the present time. */
  anchor?: string
}

/** A task before it was tried: the calls that set its scene and the calls of its reference solution. */
export interface Draft {
  kind: KindPlan
  seeds: StateCall[]
  steps: RequestStep[]
}

interface DraftContext {
  /** Tools that put something into an empty state. */
  creators: readonly AdmittedTool[]
  /** Records seen in results of the untouched state. */
  harvest: readonly PlainObject[]
}

/** Records with at least one plain value: what arguments can refer to. */
export function recordsIn(value: unknown): PlainObject[] {
  return objectsIn(value).filter((record) =>
    Object.values(record).some((item) =>
      Array.isArray(item) ? item.length > 0 && !item.some(isPlainObject) : !isPlainObject(item),
    ),
  )
}

/**
 * Draws the scene and the reference calls of a task. Throws UnusableSchema where a schema cannot be met. Whether
 * the calls succeed and do anything is for the environment to show.
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
  const records = context.creators.length === 0 ? 0 : creates ? random.int(2) : random.next() < 0.65 ? 1 : 2
  const recent: PlainObject[] = []
  for (let record = 0; record < records; record++) {
    const { spec } = random.pick(context.creators)
    const args = sampleArguments(spec.inputSchema, { random, words, known: [], reuse: false })
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
      ...defined({ always: kind.anchor }),
    })
    if (tool.kind === 'write') recent.push(...recordsIn(args))
    if (index === 0 || kind.linked === undefined) return { tool: tool.spec.name, arguments: args }
    // The place of the linked argument is kept; its value comes with the result of the step before.
    return {
      tool: tool.spec.name,
      arguments: kind.linked in args ? args : { ...args, [kind.linked]: '' },
      linked: kind.linked,
    }
  })
  return { kind, seeds, steps }
}
