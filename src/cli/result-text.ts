import type { SampleEpisode, SampleMessage, TrainingSummary } from '../training/index.ts'
import {
  count,
  duration,
  faultLines,
  headline,
  percent,
  percentInterval,
  pointsInterval,
  stageTitles,
} from '../training/report/index.ts'
import { table } from './table.ts'

const longestText = 160

/** What a finished run has to say, as text: stages, families, comparisons, cost, three episodes, and what did not go well. */
export function resultText(summary: TrainingSummary): string {
  const { stages, cost } = summary
  const families = Object.keys(stages[0]?.families ?? {})
  const header = ['success on held-out tasks', ...stages.map(({ name }) => stageTitles[name])]
  const rows = [
    ['all, 95% interval', ...stages.map(({ success }) => percentInterval(success))],
    ...families.map((family) => [family, ...stages.map((stage) => percent(stage.families[family] ?? NaN))]),
    ['calls per episode', ...stages.map(({ calls }) => calls.toFixed(2))],
    ['invalid calls', ...stages.map(({ invalidCalls }) => percent(invalidCalls))],
    ['training time', ...stages.map(({ seconds }) => (seconds === 0 ? '–' : duration(seconds)))],
  ]
  const notes = [
    ...(summary.gain === undefined
      ? []
      : [`RL less continued supervision for the same time, paired: ${pointsInterval(summary.gain)}`]),
    ...(summary.unseenWording === undefined
      ? []
      : [`on wordings never met in training: ${percentInterval(summary.unseenWording.success)}`]),
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

function sampleText({ family, prompt, before, after }: SampleEpisode): string {
  return [
    `“${prompt}”  (${family})`,
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
