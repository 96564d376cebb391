import { defined } from '../../../../defined.ts'
import { AgogeError } from '../../../../error.ts'
import { readForeignFile } from '../../../../untrusted/foreign-file.ts'
import { parseForeignJson } from '../../../../untrusted/foreign-json.ts'
import type { Expert, Task } from '../../../agent/types.ts'
import { currentSplit, currentTaskId } from '../../../episode/split.ts'
import type { McpTask } from '../mcp-task.ts'
import { isPlainObject } from '../salient.ts'
import { type AnswerType, noneAnswer, typeOfValue } from './value.ts'

/** A call in a task file. */
export interface FileCall {
  name: string
  arguments: Record<string, unknown>
}

/**
 * One line of a task file (JSONL). Only `id` and `prompt` are required, and one of `expected` and `reference`. Other
 * properties are ignored.
 */
export interface FileTask {
  id: string
  prompt: string
  /** Default: `own`. */
  kind?: string
  /** Default: `test`. */
  split?: Task['split']
  /** Calls that prepare the state before the agent starts. Default: none. */
  seeds?: FileCall[]
  /** The calls of a solution. Without them the task has no demonstration: it is only tried and evaluated. */
  reference?: FileCall[]
  /** What a right episode gives. Parts that are missing are taken from the reference, or not judged. */
  expected?: {
    /**
     * A number, a text, true or false, a list (as a set), or null if what is asked for does not exist. Without it the
     * answer is not judged.
     */
    answer?: FileAnswer
    /** Other values of the result, which a right answer does not name too. */
    others?: string[]
    /** Whether the items of a list have to be in this order. Default: false. */
    ordered?: boolean
    /**
     * The observed state at the end: of a server the text as exported, of the tools of a program any JSON value. Without it the state that the
     * reference leaves.
     */
    state?: unknown
  }
}

/** The schema of a line of a task file, as JSON Schema. */
export const fileTaskSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  title: 'A task of `agoge tasks`, one per line',
  type: 'object',
  required: ['id', 'prompt'],
  anyOf: [{ required: ['expected'] }, { required: ['reference'] }],
  properties: {
    id: { type: 'string', minLength: 1 },
    prompt: { type: 'string', minLength: 1 },
    kind: { type: 'string' },
    split: { enum: ['train', 'validation', 'test', 'unseen-paraphrase'] },
    seeds: { type: 'array', items: { $ref: '#/$defs/call' } },
    reference: { type: 'array', items: { $ref: '#/$defs/call' } },
    expected: {
      type: 'object',
      properties: {
        answer: {
          anyOf: [
            { type: ['string', 'number', 'boolean', 'null'] },
            { type: 'array', items: { type: ['string', 'number'] } },
          ],
        },
        others: { type: 'array', items: { type: 'string' } },
        ordered: { type: 'boolean' },
        state: {},
      },
    },
  },
  $defs: {
    call: {
      type: 'object',
      required: ['name', 'arguments'],
      properties: { name: { type: 'string' }, arguments: { type: 'object' } },
    },
  },
} as const

/** The line of a task. A task that was read from a file gives the line that it was read from. */
export function toFileTask({ id, prompt, kind, split, seeds, reference, expected }: McpTask): FileTask {
  const answer = expected.answer === null ? undefined : exportedAnswer(expected.answer, expected.type)
  const others = expected.others.length === 0 ? {} : { others: expected.others }
  const ordered = expected.ordered === true ? { ordered: true } : {}
  const state = expected.state === null ? {} : { state: expected.state }
  return {
    id,
    prompt,
    kind,
    split,
    ...(seeds.length === 0
      ? {}
      : { seeds: seeds.map(({ name, arguments: args }) => ({ name, arguments: args })) }),
    ...(reference === undefined ? {} : { reference: [...reference] }),
    expected: { ...defined({ answer }), ...others, ...ordered, ...state },
  }
}

type FileAnswer = string | number | boolean | readonly (string | number)[] | null

function exportedAnswer(answer: string, type: AnswerType | undefined): FileAnswer {
  if (type === 'none') return null
  if (type === 'list') return answer.split(', ')
  if (type === 'boolean') return answer === 'true'
  // A long number keeps its digits as text.
  return type === 'number' && String(Number(answer)) === answer ? Number(answer) : answer
}

const splits: readonly string[] = ['train', 'validation', 'test', 'unseen-paraphrase']

/**
 * Reads a task file. Empty lines are skipped.
 *
 * @param needsExpected whether a task must say what is right: by default it must, since nothing else judges it.
 * @throws AgogeError `bad-task-file` with the line and what is expected there.
 */
export function readTaskFile(file: string, { needsExpected = true } = {}): FileTask[] {
  let text: string
  try {
    text = readForeignFile(file, (found) => found.replace(/^\uFEFF/, ''))
  } catch (cause) {
    throw new AgogeError(`the task file ${file} cannot be read`, { code: 'bad-tasks', given: file, cause })
  }
  const tasks = text
    .split(/\r?\n/)
    .flatMap((line, index) =>
      line.trim() === '' ? [] : [readLine(line, `${file}:${index + 1}`, needsExpected)],
    )
  checkTaskIds(tasks, file)
  return tasks
}

/**
 * Checks that there are tasks, each with an id of its own.
 *
 * @throws AgogeError `bad-tasks`
 */
export function checkTaskIds(tasks: readonly FileTask[], source: string): void {
  const seen = new Set<string>()
  for (const { id } of tasks) {
    if (seen.has(id))
      throw new AgogeError(`${source} has two tasks with the id "${id}"`, {
        code: 'bad-tasks',
        given: id,
        expected: 'an id of its own for each task',
      })
    seen.add(id)
  }
  if (tasks.length > 0) return
  throw new AgogeError(`${source} has no task`, {
    code: 'bad-tasks',
    given: 'nothing',
    expected: 'one JSON object a line: {"id": "1", "prompt": "...", "expected": {"answer": "..."}}',
  })
}

function readLine(line: string, place: string, needsExpected: boolean): FileTask {
  let value: unknown
  try {
    value = parseForeignJson(line)
  } catch {
    throw new AgogeError(`${place} is no task`, {
      code: 'bad-tasks',
      given: line.slice(0, 80),
      expected: 'a JSON object in one line',
    })
  }
  return readTask(value, place, { needsExpected })
}

/**
 * Checks a task that a file or a program gives.
 *
 * @param place names it in errors, such as `tasks.jsonl:3`.
 * @throws AgogeError `bad-tasks` with what is expected.
 */
export function readTask(value: unknown, place: string, { needsExpected = true } = {}): FileTask {
  const fail = (given: unknown, expected: string): never => {
    throw new AgogeError(`${place} is no task`, { code: 'bad-tasks', given, expected })
  }
  if (!isPlainObject(value)) return fail(value, 'a JSON object')
  const { prompt, kind, seeds, reference, expected } = value
  const id = typeof value['id'] === 'string' ? currentTaskId(value['id']) : value['id']
  const split = currentSplit(value['split'])
  if (typeof id !== 'string' || id === '') return fail(id, '"id": a text')
  if (typeof prompt !== 'string' || prompt.trim() === '')
    return fail(prompt, '"prompt": the request as a text')
  if (kind !== undefined && typeof kind !== 'string') return fail(kind, '"kind": a text')
  if (split !== undefined && !splits.some((name) => name === split))
    return fail(split, `"split": one of ${splits.join(', ')}`)
  for (const [name, calls] of Object.entries({ seeds, reference }))
    if (calls !== undefined && !isCallList(calls))
      return fail(calls, `"${name}": a list of {"name", "arguments"}`)
  if (needsExpected && expected === undefined && reference === undefined)
    return fail(Object.keys(value).join(', '), '"expected" or "reference"')
  if (expected !== undefined) {
    if (!isPlainObject(expected)) return fail(expected, '"expected": {"answer"?, "state"?}')
    const { answer, others, ordered } = expected
    const plain = (item: unknown): boolean => ['string', 'number', 'boolean'].includes(typeof item)
    if (
      answer !== undefined &&
      answer !== null &&
      !plain(answer) &&
      !(Array.isArray(answer) && answer.every(plain))
    )
      return fail(
        answer,
        '"answer": a text, a number, true or false, a list of them, or null for "there is none"',
      )
    if (others !== undefined && !(Array.isArray(others) && others.every((item) => typeof item === 'string')))
      return fail(others, '"others": a list of texts')
    if (ordered !== undefined && typeof ordered !== 'boolean')
      return fail(ordered, '"ordered": true or false')
  }
  return { ...value, id, ...(split === undefined ? {} : { split }) } as unknown as FileTask
}

function isCallList(value: unknown): value is FileCall[] {
  return (
    Array.isArray(value) &&
    value.every(
      (call) => isPlainObject(call) && typeof call['name'] === 'string' && isPlainObject(call['arguments']),
    )
  )
}

/** A task of a file before it is proved: without the state and the answer that its reference gives. */
export function fromFileTask(line: FileTask, index: number): McpTask {
  const { id, prompt, kind = 'own', split = 'test', seeds = [], reference, expected = {} } = line
  const given = expected.answer
  const type: AnswerType | undefined =
    given === undefined
      ? undefined
      : given === null
        ? 'none'
        : Array.isArray(given)
          ? 'list'
          : typeOfValue(given as string | number | boolean)
  const answer =
    given === undefined
      ? null
      : given === null
        ? noneAnswer
        : Array.isArray(given)
          ? given.join(', ')
          : String(given)
  return {
    id,
    kind,
    seed: index,
    split,
    prompt,
    difficulty: Math.max(1, Math.min(4, reference?.length ?? 1)),
    context: {
      tools: (reference ?? []).map(({ name }) => name),
      changes: expected.state !== undefined,
      own: true,
    },
    plan: planOf(reference, answer),
    seeds,
    ...defined({ reference }),
    expected: {
      answer,
      ...defined({ type }),
      others: expected.others ?? [],
      ...(expected.ordered === true && { ordered: true }),
      state: stateText(expected.state),
    },
  }
}

/** The state as servers show it. */
function stateText(state: unknown): string | null {
  if (state === undefined) return null
  return typeof state === 'string' ? state : JSON.stringify(state)
}

function planOf(reference: readonly FileCall[] | undefined, answer: string | null): Expert {
  return (results) => {
    const call = reference?.[results.length]
    return call === undefined
      ? { answer: answer ?? 'done' }
      : { call: { name: call.name, arguments: call.arguments } }
  }
}
