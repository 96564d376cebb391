import type { TrainingSequence } from '../../episode/types.ts'
import type { LossReport, LossSettings } from '../../model-backend.ts'
import { addTokens, createLossSums, lossReport } from '../loss-report.ts'
import type { LossSums } from '../loss-report.ts'
import { createAnswerReader, type Fields } from './transport.ts'
import { fromTargets } from './loss-requests.ts'

/** Log-probabilities over the tokens of each sequence, from `loss_fn_outputs`. */
export function readLogprobs(
  host: string,
  output: Fields,
  sequences: readonly { tokens: Int32Array }[],
): Float32Array[] {
  const read = createAnswerReader(host, 'forward_backward')
  const outputs = read.list(output, 'loss_fn_outputs')
  return sequences.map(({ tokens }, i) => {
    const fields = read.fields(outputs[i], `output of datum ${i}`)
    const values = read.numbers(read.fields(fields['logprobs'], 'logprobs'), 'data')
    if (values.length !== tokens.length - 1)
      read.fields(undefined, `log-probability for each of the ${tokens.length - 1} targets of datum ${i}`)
    return fromTargets(values, tokens.length)
  })
}

/** Measurements of Agoge's server, by the names of its metrics. */
const measured = {
  tokens: 'tokens:sum',
  meanRatio: 'ratio:mean',
  clipFraction: 'clip_fraction:mean',
  kl: 'kl:mean',
  meanDifference: 'difference:mean',
  maxRatio: 'ratio:max',
  entropy: 'entropy:mean',
} as const satisfies Partial<Record<keyof LossReport, string>>

/** The names as a server writes them. */
export function reportMetrics(report: LossReport): Record<string, number> {
  const named = Object.entries(measured).flatMap(([key, name]) => {
    const value = report[key as keyof LossReport]
    return value === undefined ? [] : [[name, value] as const]
  })
  return { 'loss:sum': report.loss, ...Object.fromEntries(named) }
}

/**
 * The report of one request. Other servers than Agoge's return the loss and the log-probabilities: ratios and
 * divergence are computed from these, and the entropy is unknown (NaN).
 */
export function readReport(
  host: string,
  output: Fields,
  sequences: readonly TrainingSequence[],
  loss: LossSettings,
): LossReport {
  const metrics = (output['metrics'] ?? {}) as Record<string, unknown>
  const metric = (name: string): number | undefined => {
    const value = metrics[name]
    return typeof value === 'number' ? value : undefined
  }
  const total = metric('loss:sum')
  if (metric('tokens:sum') !== undefined && total !== undefined) {
    const entries = Object.entries(measured).map(([key, name]) => [key, metric(name) ?? 0])
    return { loss: total, ...Object.fromEntries(entries) } as LossReport
  }
  const sums = createLossSums()
  addSequences(sums, readLogprobs(host, output, sequences), sequences, loss)
  // SkyRL's server returns the loss of every token instead of a sum.
  sums.loss = total ?? elementwiseSum(host, output)
  return { ...lossReport([sums]), entropy: Number.NaN }
}

function addSequences(
  sums: LossSums,
  logprobs: readonly Float32Array[],
  sequences: readonly TrainingSequence[],
  { name, clipLow = 0.2, clipHigh = 0.2 }: LossSettings,
): void {
  for (const [i, { logprobs: sampled, advantages, weights }] of sequences.entries()) {
    sums.tokens += weights.rl.reduce((n, rl, t) => n + Number(rl !== 0 || weights.ce[t] !== 0), 0)
    addTokens(sums, { logprobs: logprobs[i], sampled, rl: weights.rl }, (ratio, t) => {
      const above = ratio > 1 + clipHigh && (name === 'cispo' || (name === 'ppo' && advantages[t] > 0))
      const below = name === 'ppo' && ratio < 1 - clipLow && advantages[t] < 0
      if (above || below) sums.clipped++
    })
  }
}

function elementwiseSum(host: string, output: Fields): number {
  const read = createAnswerReader(host, 'forward_backward')
  return read
    .list(output, 'loss_fn_outputs')
    .map((each) => read.fields(read.fields(each, 'output')['elementwise_loss'], '"loss:sum" and no losses'))
    .reduce((sum, losses) => sum + read.numbers(losses, 'data').reduce((part, value) => part + value, 0), 0)
}

/** Merges the reports of the requests of one call: adds sums, and averages means weighted by their tokens. */
export function joinReports(reports: readonly LossReport[]): LossReport {
  if (reports.length === 1) return reports[0]
  const tokens = reports.reduce((sum, report) => sum + report.tokens, 0)
  const meanOf = (key: 'meanRatio' | 'clipFraction' | 'kl' | 'meanDifference' | 'entropy'): number =>
    reports.reduce((sum, report) => sum + (report[key] ?? 0) * report.tokens, 0) / Math.max(1, tokens)
  return {
    loss: reports.reduce((sum, report) => sum + report.loss, 0),
    tokens,
    meanRatio: meanOf('meanRatio'),
    clipFraction: meanOf('clipFraction'),
    kl: meanOf('kl'),
    meanDifference: meanOf('meanDifference'),
    maxRatio: Math.max(...reports.map(({ maxRatio }) => maxRatio ?? 0)),
    entropy: meanOf('entropy'),
  }
}
