import type { SampleEpisode, SampleMessage, TrainingSummary } from '../../llm/training/types.ts'
import { count, duration, percent, percentInterval, pointsInterval } from '../../runs/report/format.ts'
import { faultLines } from '../../llm/training/dropped-tasks.ts'
import { headline } from '../../llm/training/report/render-report.ts'
import { stageTitles } from '../../llm/training/report/sections.ts'
import { table } from '../shared/console.ts'

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
      : [`RL less continued supervision for the same time, paired: ${pointsInterval(summary.gain)}`]),
    ...(summary.unseenParaphrases === undefined
      ? []
      : [`on wordings never met in training: ${percentInterval(summary.unseenParaphrases.success)}`]),
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
