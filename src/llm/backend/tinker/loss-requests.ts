import { AgogeError } from '../../../error.ts'
import type { TrainingSequence } from '../../episode/types.ts'
import type { LossReport, LossSettings } from '../../model-backend.ts'
import type { CustomLoss } from '../custom-loss.ts'
import { addTokens, createLossSums, lossReport } from '../loss-report.ts'
import type { LossSums } from '../loss-report.ts'
import { createAnswerReader } from './transport.ts'
import type { Fields } from './transport.ts'
import type { Datum, ForwardBackwardInput, TensorData } from './wire.ts'

/**
 * A sequence in the form of the protocol. The model reads all tokens but the last; the targets are all but the first;
 * index i of every array belongs to token i + 1 of the sequence. `inputs` have one entry per token and are cut
 * likewise.
 */
function toDatum(tokens: Int32Array, inputs: Readonly<Record<string, Float32Array>>): Datum {
  const length = tokens.length - 1
  const shifted = Object.entries(inputs).map(([name, values]): [string, TensorData] => [
    name,
    { data: values.subarray(1), dtype: 'float32', shape: [length] },
  ])
  return {
    model_input: { chunks: [{ type: 'encoded_text', tokens: tokens.subarray(0, length) }] },
    loss_fn_inputs: {
      target_tokens: { data: tokens.subarray(1), dtype: 'int64', shape: [length] },
      ...Object.fromEntries(shifted),
    },
  }
}

/** Maps values per target back to the tokens of the sequence; index 0 is 0. */
function fromTargets(values: ArrayLike<number>, length: number): Float32Array {
  const all = new Float32Array(length)
  all.set(values, 1)
  return all
}

/**
 * Number of sequences in each request, so that no request exceeds the server's limits on rows or bytes (as the SDK
 * estimates them).
 */
export function chunkSizes(
  sequences: readonly { tokens: Int32Array }[],
  { rows, bytes }: { rows: number; bytes: number },
): number[] {
  // Tokens take 4 bytes, targets 8, and there are up to six inputs of 4.
  const bytesPerToken = 36
  const sizes: number[] = []
  let filled = 0
  for (const { tokens } of sequences) {
    const more = tokens.length * bytesPerToken
    const last = sizes.at(-1)
    if (last === undefined || last === rows || filled + more > bytes) {
      sizes.push(1)
      filled = more
    } else {
      sizes[sizes.length - 1] = last + 1
      filled += more
    }
  }
  return sizes
}

type WeightName = keyof TrainingSequence['weights']

function hasWeights(sequences: readonly TrainingSequence[], name: WeightName): boolean {
  return sequences.some(({ weights }) => weights[name].some((weight) => weight !== 0))
}

type ScoredSequence = Pick<TrainingSequence, 'tokens' | 'temperatures'>

/**
 * Refuses temperatures on servers other than Agoge's. The protocol has a temperature for sampling but not for training,
 * so such a server would score tokens under another distribution than they were drawn from, and every ratio would be
 * wrong.
 *
 * @throws AgogeError `unsupported-temperature`
 */
export function checkUntempered(sequences: readonly ScoredSequence[]): void {
  for (const [i, { temperatures }] of sequences.entries()) {
    const odd = temperatures?.find((temperature) => temperature !== 1)
    if (odd === undefined) continue
    throw new AgogeError(
      `Sequence ${i} was sampled at a temperature that the Tinker protocol cannot train at`,
      {
        code: 'unsupported-temperature',
        given: odd,
        expected: 'temperature 1, or 0 where samples are compared and not trained',
        hint: 'Sample at temperature 1, or train with the local backend or against `agoge serve --tinker`, which know temperatures',
      },
    )
  }
}

/** The clips in the form of the protocol: bounds of the ratio itself. */
function lossConfig({ name, clipLow = 0.2, clipHigh = 0.2 }: LossSettings): Record<string, number> | null {
  if (name === 'ppo') return { clip_low_threshold: 1 - clipLow, clip_high_threshold: 1 + clipHigh }
  if (name === 'cispo') return { clip_low_threshold: 0, clip_high_threshold: 1 + clipHigh }
  return null
}

/**
 * Whether the plain protocol can express the loss in one request. Its RL losses have advantages but no weights, and do
 * not mix in cross-entropy or a divergence.
 */
export function fitsOneRequest(sequences: readonly TrainingSequence[], { name }: LossSettings): boolean {
  return name === 'cross_entropy'
    ? !hasWeights(sequences, 'kl')
    : !hasWeights(sequences, 'ce') && !hasWeights(sequences, 'kl')
}

/**
 * `forward_backward_input` of the plain protocol. The rl weight is multiplied into the advantage, in which all these
 * losses are linear.
 */
export function plainInput(sequences: readonly TrainingSequence[], loss: LossSettings): ForwardBackwardInput {
  const data = sequences.map(({ tokens, logprobs, advantages, weights }, i) => {
    if (loss.name === 'cross_entropy') return toDatum(tokens, { weights: weights.ce })
    const negative = weights.rl.find((weight) => weight < 0)
    if (negative !== undefined) {
      throw new AgogeError(`training sequence ${i} has a negative rl weight`, {
        code: 'unsupported-weights',
        given: negative,
        expected: 'weights of 0 or more, which can be folded into the advantages',
      })
    }
    return toDatum(tokens, { logprobs, advantages: advantages.map((value, t) => value * weights.rl[t]) })
  })
  return { data, loss_fn: loss.name, loss_fn_config: lossConfig(loss) }
}

/** `forward_backward_input` for Agoge's own server, with all weights as separate fields. */
export function extendedInput(
  sequences: readonly TrainingSequence[],
  loss: LossSettings,
): ForwardBackwardInput {
  const withDivergence = hasWeights(sequences, 'kl')
  const data = sequences.map(({ tokens, logprobs, advantages, weights, temperatures }) => {
    const kl = {
      ...(withDivergence && { kl_weights: weights.kl }),
      ...(temperatures && { temperatures }),
    }
    return loss.name === 'cross_entropy'
      ? toDatum(tokens, { weights: weights.ce, ...(withDivergence ? { logprobs } : {}), ...kl })
      : toDatum(tokens, { logprobs, advantages, weights: weights.rl, ce_weights: weights.ce, ...kl })
  })
  return { data, loss_fn: loss.name, loss_fn_config: lossConfig(loss) }
}

/** A forward pass: cross-entropy with weight 0 for every token. */
export function forwardInput(sequences: readonly ScoredSequence[]): ForwardBackwardInput {
  return {
    data: sequences.map(({ tokens, temperatures }) =>
      toDatum(tokens, { weights: new Float32Array(tokens.length), ...(temperatures && { temperatures }) }),
    ),
    loss_fn: 'cross_entropy',
    loss_fn_config: null,
  }
}

/** Loss of one token and its derivative by the log-probability, before the rl weight. */
function policyLoss(
  { name, clipLow = 0.2, clipHigh = 0.2 }: LossSettings,
  ratio: number,
  advantage: number,
  logprob: number,
): { loss: number; derivative: number; clipped: boolean } {
  const plain = ratio * advantage
  if (name === 'cispo') {
    const weight = Math.min(ratio, 1 + clipHigh) * advantage
    return { loss: -weight * logprob, derivative: -weight, clipped: ratio > 1 + clipHigh }
  }
  const bounded = Math.min(Math.max(ratio, 1 - clipLow), 1 + clipHigh) * advantage
  if (name === 'ppo' && bounded < plain) return { loss: -bounded, derivative: 0, clipped: true }
  return { loss: -plain, derivative: -plain, clipped: false }
}

/**
 * The same losses as `tracedLoss`, with cross-entropy and divergence mixed in, as a function of log-probabilities. For
 * servers that cannot compute such a mixture in one pass. `ce`: -logprob; `kl`: r - 1 - log r with r = sampled /
 * trained probability.
 */
export function mixedLoss(settings: LossSettings): CustomLoss {
  return (logprobs, sequences) => {
    let total = 0
    let policyTokens = 0
    let clipped = 0
    const gradients = sequences.map(({ tokens, logprobs: sampled, advantages, weights }, s) => {
      const derivatives = new Float32Array(tokens.length)
      for (let t = 1; t < tokens.length; t++) {
        const logprob = logprobs[s][t]
        const difference = sampled[t] - logprob
        const inverse = weights.kl[t] === 0 ? 1 : Math.exp(difference)
        let derivative = -weights.ce[t] + weights.kl[t] * (1 - inverse)
        total += -weights.ce[t] * logprob + weights.kl[t] * (inverse - 1 - difference)
        if (weights.rl[t] !== 0) {
          const policy = policyLoss(settings, Math.exp(-difference), advantages[t], logprob)
          total += weights.rl[t] * policy.loss
          derivative += weights.rl[t] * policy.derivative
          policyTokens++
          if (policy.clipped) clipped++
        }
        derivatives[t] = derivative
      }
      return derivatives
    })
    return { loss: total, gradients, metrics: { clipFraction: clipped / Math.max(1, policyTokens) } }
  }
}

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
