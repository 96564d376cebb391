import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import { checkFile, writeWhole } from '../../runs/files.ts'
import { percent } from '../../runs/report/format.ts'
import { measureTasks, type TaskMeasures } from '../../llm/environment/mcp/goals/measure-tasks.ts'
import { fileTaskSchema, readTaskFile, toFileTask } from '../../llm/environment/mcp/goals/task-file.ts'
import { describeProfile } from '../../llm/environment/mcp/profile/describe-profile.ts'
import { openMcpEnvironment } from '../../llm/environment/mcp/open-mcp-environment.ts'
import type { McpTask } from '../../llm/environment/mcp/mcp-task.ts'
import { confirmPlan } from '../../llm/environment/mcp/plan.ts'
import { type ParaphraseMark, paraphraseMark } from '../../llm/environment/mcp/teacher/paraphrase-tasks.ts'
import { splitCounts } from '../../llm/environment/mcp/task-generation.ts'
import { visibleBlock, visibleLine } from '../../untrusted/visible-text.ts'
import { type Console, table } from '../shared/console.ts'
import type { EnvironmentOptions } from './open-environment.ts'
import { openTeacher, paraphraseLine, runTeacher, type TeacherOptions } from './teacher-option.ts'

export interface TasksCommand extends EnvironmentOptions, TeacherOptions {
  count: number
  seed: number
  out?: string
  from?: string
  schema?: boolean
  yes?: boolean
}

/** `agoge tasks`: shows the tasks that are made of a server, each as soon as it is proved, and measures them. */
export async function runTasks(command: TasksCommand, terminal: Console): Promise<void> {
  const { environment: named, count, seed, out, from } = command
  if (command.schema === true) return terminal.out(JSON.stringify(fileTaskSchema, null, 2))
  if (!named.startsWith('mcp:'))
    throw new AgogeError('agoge tasks shows the tasks of an MCP server', {
      code: 'bad-option',
      given: named,
      expected: 'mcp:NAME, with NAME from .mcp.json',
    })
  const own = from === undefined ? undefined : readTaskFile(from)
  if (out !== undefined) checkFile(out)
  const teacher = await openTeacher(command, terminal)
  const { mcpConfig: file, sandbox, allow, maxCalls, callsPerSecond } = command
  const { err, signal } = terminal
  const environment = await openMcpEnvironment(named.slice(4), {
    signal,
    ...defined({ file, sandbox, allow, maxCalls, callsPerSecond }),
  })
  try {
    if (environment.needsConsent && command.yes !== true) await confirmPlan(environment.plan, { signal })
    else err(environment.plan)
    let shown = 0
    const { tasks, leftOut, hint } = await environment.prepareTasks({
      seed,
      counts: splitCounts(count),
      signal,
      onProfile: (profile) => err(describeProfile(profile)),
      onTask: (task) => {
        if (++shown <= count || own !== undefined) terminal.out(taskText(task, shown))
      },
      ...defined({ own }),
    })
    const proved = (['train', 'validation', 'test', 'unseen-paraphrase'] as const).flatMap((split) =>
      tasks.all(split),
    )
    for (const { id, reason } of tasks.refused)
      terminal.out(`not usable: ${visibleLine(id, 128)}: ${visibleBlock(reason, '    ')}`)
    for (const { name, reason } of [...environment.admission.refused, ...leftOut])
      terminal.out(`left out: ${visibleLine(name, 128)}: ${visibleBlock(reason, '    ')}`)
    for (const { split, kinds } of tasks.missing) terminal.out(`no ${split} tasks of ${kinds.join(', ')}`)
    if (hint !== undefined) err(visibleBlock(hint, ''))
    const written: McpTask[] = []
    const withWritten = (): McpTask[] =>
      proved.flatMap((task) => [
        task,
        ...written.filter((paraphrase) => paraphraseMark(paraphrase)?.of === task.id),
      ])
    try {
      if (teacher !== undefined)
        await runTeacher(environment, proved, { ...teacher, count }, terminal, (task) => {
          written.push(task)
          terminal.out(paraphraseLine(task, proved.length + written.length))
        })
    } finally {
      // Written before it is measured: measuring takes longer. What a teacher wrote before it was interrupted stays.
      if (out !== undefined) {
        const lines = withWritten().map((task) => ({ ...toFileTask(task), ...markOf(task) }))
        writeWhole(out, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
        err(`${lines.length} tasks in ${out}`)
      }
    }
    const all = withWritten()
    terminal.out(measuresText(await measureTasks(environment, all, { seed, signal })))
  } finally {
    await environment.close()
  }
}

/** The mark of a request that a teacher wrote, as a property of its line. Reading the file ignores it. */
function markOf(task: McpTask): { paraphrase?: ParaphraseMark } {
  return defined({ paraphrase: paraphraseMark(task) })
}

function taskText(
  { split, kind, prompt, expected, reference = [], seeds, context }: McpTask,
  number: number,
): string {
  const calls = (some: readonly { name: string; arguments: Record<string, unknown> }[]): string =>
    some.map(({ name, arguments: args }) => `${name} ${JSON.stringify(args)}`).join('; ')
  const judged = [
    ...(expected.answer === null
      ? []
      : [`answer ${JSON.stringify(expected.answer)} as ${expected.type ?? 'text'}`]),
    ...(expected.state === null
      ? []
      : [context['changes'] === true ? 'the state that the reference leaves' : 'the state is left alone']),
  ]
  return visibleBlock(
    [
      `${number}. ${prompt}`,
      `   ${split} · ${kind}`,
      ...(seeds.length === 0 ? [] : [`   before: ${calls(seeds)}`]),
      `   reference: ${reference.length === 0 ? 'none' : calls(reference)}`,
      `   ${reference.length === 0 ? 'not proved: it has no reference' : 'proved in a fresh state'}; judged by: ${judged.join(', ')}`,
    ].join('\n'),
    '',
  )
}

/** The measures as a table and two lines. */
export function measuresText({
  tasks,
  shares,
  duplicates,
  guessable,
  sharedPlans,
  sharedOutcomes,
}: TaskMeasures): string {
  const rows = shares.map(({ agent, solved, judged, chance }) => [
    agent,
    `${solved}/${judged}`,
    judged === 0 ? '-' : percent(solved / judged),
    chance === null ? '' : percent(chance / Math.max(1, tasks)),
  ])
  return [
    '',
    table(['solved by', 'tasks', 'share', 'chance stated'], rows),
    `duplicates ${duplicates} of ${tasks}; in kinds that can be guessed (chance above 10%): ${guessable}`,
    `test tasks whose plan, arguments and initial state are in training: ${sharedPlans}; whose kind and outcome are: ${sharedOutcomes.shared} of ${sharedOutcomes.tests}`,
  ].join('\n')
}
