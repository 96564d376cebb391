import { resolve } from 'node:path'
import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import { importTraces, type ImportSummary } from '../../llm/traces/import-traces.ts'
import { type WrittenTasks, writeTasks } from '../../llm/traces/tasks-of-episodes.ts'
import { visibleLine } from '../../untrusted/visible-text.ts'
import { type Console, table } from '../shared/console.ts'

export interface ImportCommand {
  files: string[]
  out: string
  tasks?: string
  trustAnswers?: boolean
  maxBad?: number
}

/** Most problems that are shown one by one. */
const mostShown = 10

/** `agoge import`: traces and chat logs as episodes, and tasks of their requests. */
export async function runImport(command: ImportCommand, terminal: Console): Promise<void> {
  const { files, out, tasks, trustAnswers = false, maxBad } = command
  if (trustAnswers && tasks === undefined) throw strayTrust()
  const twice = [...files, out, ...(tasks === undefined ? [] : [tasks])].map((file) => resolve(file))
  if (new Set(twice).size < twice.length) throw sameFile(command)
  let shown = 0
  const summary = await importTraces(files, {
    out,
    onProblem({ place, problem }) {
      shown += 1
      if (shown <= mostShown)
        terminal.err(`left out: ${visibleLine(place, 200)}: ${visibleLine(problem, 200)}`)
    },
    signal: terminal.signal,
    ...defined({ mostProblems: maxBad }),
  })
  terminal.out(summaryText(out, summary))
  if (tasks === undefined) return
  terminal.out(tasksText(tasks, await writeTasks(out, { out: tasks, trustAnswers }), trustAnswers))
}

function strayTrust(): AgogeError {
  return new AgogeError('--trust-answers is about tasks', {
    code: 'bad-option',
    given: '--trust-answers without --tasks',
    expected: '--tasks FILE.jsonl',
  })
}

function sameFile({ files, out, tasks }: ImportCommand): AgogeError {
  return new AgogeError('a file is named twice', {
    code: 'bad-option',
    given: [...files, out, tasks ?? ''].join(' '),
    expected: 'different files to read and to write',
  })
}

/** What was imported, as a table; then what was left out. */
export function summaryText(out: string, summary: ImportSummary): string {
  const { episodes, calls, toolCalls, tokens, models, tools, masked, otherTraces, problems } = summary
  const rows = [
    ['episodes', String(episodes)],
    ['answers of models', String(calls)],
    ['tool calls', toolCalls === 0 ? '0' : `${toolCalls}: ${counted(tools)}`],
    ['tokens', `${tokens.input} in, ${tokens.output} out`],
    ['models', Object.keys(models).length === 0 ? 'not named' : counted(models)],
    ...(masked === 0 ? [] : [['end in a fault (masked)', String(masked)]]),
    ...(otherTraces === 0 ? [] : [['traces without a model', String(otherTraces)]]),
    ...Object.entries(problems).map(([problem, count]) => [
      'left out',
      `${count}: ${visibleLine(problem, 120)}`,
    ]),
  ]
  return table([out, ''], rows)
}

const mostNames = 5

/** The most frequent names with their numbers. */
function counted(counts: Readonly<Record<string, number>>): string {
  const byCount = Object.entries(counts).sort(([, a], [, b]) => b - a)
  const named = byCount.slice(0, mostNames).map(([name, count]) => `${visibleLine(name, 40)} ${count}`)
  const others = byCount.length - named.length
  return [...named, ...(others > 0 ? [`${others} more`] : [])].join(', ')
}

function tasksText(file: string, written: WrittenTasks, trustAnswers: boolean): string {
  const { tasks, expected, duplicates, nearDuplicates, contradictions, unanswered, promptless } = written
  const counts: [number, string][] = [
    [duplicates, 'episodes had the prompt of another'],
    [nearDuplicates, 'prompts are near duplicates: they differ only in case, digits or punctuation'],
    [contradictions, 'tasks expect nothing, because their episodes answered differently'],
    [unanswered, 'tasks expect nothing, because no episode ended with an answer to its only request'],
    [promptless, 'episodes have no message of a user'],
  ]
  const said = trustAnswers
    ? `${expected} expect the answer that was given; nobody has checked these`
    : 'they expect nothing: score them with a judge, or add --trust-answers if the answers were right'
  return [
    '',
    `${tasks} tasks in ${file}; ${said}`,
    ...counts.flatMap(([count, what]) => (count === 0 ? [] : [`${count} ${what}`])),
  ].join('\n')
}
