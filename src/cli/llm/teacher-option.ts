import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import type { ToolEnvironment } from '../../llm/agent/types.ts'
import type { McpTask } from '../../llm/environment/mcp/mcp-task.ts'
import {
  type CountedReason,
  defaultTeacherTokens,
  type ParaphraseOptions,
  paraphraseMark,
  paraphraseTasks,
} from '../../llm/environment/mcp/teacher/paraphrase-tasks.ts'
import { visibleBlock, visibleLine } from '../../untrusted/visible-text.ts'
import type { Console } from '../shared/console.ts'
import { isEndpoint, readEndpoint } from './model-option.ts'

/** The options of `agoge tasks` for a teacher. */
export interface TeacherOptions {
  /** `URL#NAME` of the endpoint. Default: none; only the requests that Agoge writes itself. */
  teacher?: string
  /** Limit of tokens. Default: 200,000. */
  teacherTokens?: number
  /** The environment variable with the endpoint's key. */
  apiKeyEnv?: string
}

/** A teacher with a name, an address and a limit. */
export type OpenedTeacher = Required<Pick<ParaphraseOptions, 'endpoint' | 'tokens'>>

/**
 * Reads the teacher of the command line; undefined if there is none. Sends nothing but the question which models there are, if
 * none is named.
 *
 * @throws AgogeError if it is not the address of an endpoint, or an option of a teacher stands alone.
 */
export async function openTeacher(
  { teacher, teacherTokens, apiKeyEnv }: TeacherOptions,
  { err, signal }: Console,
): Promise<OpenedTeacher | undefined> {
  if (teacher === undefined) {
    if (teacherTokens === undefined && apiKeyEnv === undefined) return undefined
    throw new AgogeError('Only a teacher takes a limit of tokens and a key.', {
      code: 'bad-option',
      given: teacherTokens === undefined ? '--api-key-env' : '--teacher-tokens',
      expected: 'with --teacher URL#NAME',
    })
  }
  if (!isEndpoint(teacher))
    throw new AgogeError('The teacher of tasks is an OpenAI-compatible endpoint.', {
      code: 'bad-option',
      given: `--teacher ${teacher}`,
      expected: 'URL#NAME, as http://127.0.0.1:8080/v1#some-model',
    })
  const key = defined({ apiKeyVariable: apiKeyEnv })
  const { baseUrl, model } = await readEndpoint(teacher, '--teacher', key, signal)
  return {
    endpoint: { baseUrl, model, ...key, onNotice: err },
    tokens: teacherTokens ?? defaultTeacherTokens,
  }
}

/** Lets the teacher write requests again. Prints the cost before, and what was kept and dropped after. */
export async function runTeacher(
  environment: ToolEnvironment<McpTask>,
  tasks: readonly McpTask[],
  { endpoint, tokens, count }: OpenedTeacher & { count: number },
  { err, out, signal }: Console,
  onTask: (task: McpTask) => void,
): Promise<void> {
  const { host } = new URL(endpoint.baseUrl)
  const report = await paraphraseTasks(environment, tasks, {
    endpoint,
    tokens,
    count,
    signal,
    onTask,
    onCost: (cost) =>
      err(
        [
          `The teacher ${visibleLine(endpoint.model, 128)} at ${host} is sent requests, tools and results of this server:`,
          `${grouped(cost.drafts)} requests for drafts and at most ${grouped(cost.readings)} to read them. Usually that takes about ${grouped(cost.usualTokens)} tokens, at most about ${grouped(cost.mostTokens)}.`,
          `It ends before it takes more than ${grouped(tokens)} tokens (--teacher-tokens).`,
        ].join('\n'),
      ),
  })
  out(
    `teacher: ${report.tasks.length} of ${report.drafts} drafts kept, in ${grouped(report.requests)} requests and ${grouped(report.tokens)} tokens`,
  )
  for (const line of reasonLines('drafts dropped', report.dropped)) out(line)
  for (const line of reasonLines('tasks without drafts', report.without)) out(line)
  if (report.isLimited) err(`The limit of ${grouped(tokens)} tokens was reached. What was kept so far stays.`)
}

/** A request that a teacher wrote, with its split, its kind and its style. */
export function paraphraseLine(task: McpTask, number: number): string {
  const { prompt, split, kind } = task
  const { style, of } = paraphraseMark(task) ?? { style: 'other', of: '' }
  return visibleBlock(`${number}. ${prompt}\n   ${split} · ${kind} · ${style}, for ${of}`, '')
}

const longestReason = 300

function reasonLines(what: string, reasons: readonly CountedReason[]): string[] {
  return reasons.map(({ reason, count }) => `${what}: ${count}: ${visibleLine(reason, longestReason)}`)
}

const grouped = (value: number): string => value.toLocaleString('en-US')
