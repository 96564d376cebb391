import { count, duration, percent, percentInterval, pointsInterval } from '../../runs/report/format.ts'
import type { TrainingPlan, SampleEpisode, SampleMessage, TrainingSummary } from '../../llm/training/types.ts'
import { faultLines } from '../../llm/training/dropped-tasks.ts'
import { headline } from '../../llm/training/report/render-report.ts'
import { stageTitles, unseenGroups } from '../../llm/training/report/sections.ts'
import { table } from '../shared/console.ts'

/** The remaining budget of calls to an MCP server, and their rate. */
export interface CallBudget {
  left: number
  /** Default: no limit. */
  callsPerSecond: number | undefined
  /** Mean number of calls in a task's reference solution. */
  perTask: number
}

// A policy makes more calls than the reference, and judging a failure runs the reference once more.
const overhead = 1.5

/** Estimates the number of calls of a training. */
export function plannedCalls(plan: TrainingPlan, perTask: number): number {
  const { warmStart, reinforcement, tasks } = plan
  const demonstrations = Object.values(plan.demonstrations).reduce((sum, each) => sum + each, 0)
  const steps = warmStart.epochs * Math.ceil(demonstrations / warmStart.batch)
  const every = reinforcement.validateEvery
  const validations =
    Math.ceil(steps / warmStart.validateEvery) + (every === 0 ? 0 : Math.ceil(reinforcement.steps / every))
  const held = 3 * tasks.test + tasks.unseenParaphrases + validations * tasks.validation
  const sampled = reinforcement.steps * reinforcement.groups * reinforcement.groupSize
  return Math.ceil((demonstrations + overhead * (held + sampled)) * perTask)
}

/** Tells the user how long the calls take at their rate, and whether the budget is enough. */
export function callForecast(plan: TrainingPlan, { left, callsPerSecond, perTask }: CallBudget): string {
  const calls = plannedCalls(plan, perTask)
  const pace =
    callsPerSecond === undefined
      ? ''
      : `, at least ${duration(calls / callsPerSecond)} at ${callsPerSecond} a second`
  const ahead = `about ${count(calls)} calls are ahead${pace}`
  return calls <= left
    ? ahead
    : `${ahead}; ${count(left)} are left of the budget, which will stop the training: raise it with --max-calls, or ask for fewer with --steps and --tasks`
}

const longestText = 160

/** Formats the result of a finished run: stages, kinds of tasks, comparisons, cost, three episodes and problems. */
export function resultText(summary: TrainingSummary): string {
  const { stages, cost } = summary
  const kinds = Object.keys(stages[0]?.kinds ?? {})
  const header = ['success on held-out tasks', ...stages.map(({ name }) => stageTitles[name])]
  const rows = [
    ['all, 95% interval', ...stages.map(({ success }) => percentInterval(success))],
    ...kinds.map((kind) => [kind, ...stages.map((stage) => percent(stage.kinds[kind] ?? NaN))]),
    ['calls per episode', ...stages.map(({ calls }) => calls.toFixed(2))],
    ['invalid calls', ...stages.map(({ invalidCalls }) => percent(invalidCalls))],
    ['training time', ...stages.map(({ seconds }) => (seconds === 0 ? '–' : duration(seconds)))],
  ]
  const notes = [
    ...(summary.gain === undefined
      ? []
      : [`RL less continued supervision (the same time at most), paired: ${pointsInterval(summary.gain)}`]),
    ...(summary.unseenParaphrases === undefined
      ? []
      : [
          `on paraphrases never met in training: ${percentInterval(summary.unseenParaphrases.success)}${unseenGroups(summary.unseenParaphrases.groups)}`,
        ]),
    `cost: ${duration(cost.seconds)}, ${count(cost.sampledTokens)} sampled tokens, ${count(cost.calls)} tool calls, ${count(cost.episodes)} episodes` +
      (cost.masked === 0 ? '' : ` (${cost.masked} lost to faults of the infrastructure)`),
    ...faultLines(summary),
  ]
  const { samples, remarks = [] } = summary
  return [
    headline(summary),
    table(header, rows),
    notes.join('\n'),
    ...samples.map(sampleText),
    ...remarks,
  ].join('\n\n')
}

function sampleText({ kind, prompt, before, after }: SampleEpisode): string {
  return [
    `“${prompt}”  (${kind})`,
    '  before',
    ...before.flatMap(lines),
    '  after RL',
    ...after.flatMap(lines),
  ].join('\n')
}

function lines({ role, text, calls, invalid }: SampleMessage): string[] {
  if (role === 'tool') return [`      ${short(text)}`]
  if (role !== 'assistant') return []
  if (invalid !== undefined) return [`    ! ${short(text)}`]
  if (calls === undefined || calls.length === 0) return [`    = ${short(text)}`]
  return calls.map((call) => `    > ${short(`${call.name}(${JSON.stringify(call.arguments)})`)}`)
}

function short(text: string): string {
  const line = text.replaceAll('\n', ' ⏎ ')
  return line.length > longestText ? `${line.slice(0, longestText)} …` : line
}
