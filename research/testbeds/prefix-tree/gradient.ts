import { AgogeError } from 'agoge'
import {
  combineLosses,
  crossEntropyLoss,
  entropyLoss,
  klLoss,
  losses,
  sampledEntropyLoss,
  tokenWeights,
  unbiasedKlLoss,
} from 'agoge/losses'
import type { LossValue } from 'agoge/losses'
import { findPolicyPreset } from 'agoge/llm'
import type { AdvantageSettings, PolicyPresetName, PolicySettings } from 'agoge/llm'
import type { AdvantagesOfGroups, AnswerAdvantage } from './advantages.ts'
import { addToFeatures } from './exact.ts'
import type { Answer, PrefixPolicy } from './policy.ts'

/** How answers move the policy: settings of the library's policy optimisation, or advantages of your own. */
export interface LearningRule extends Pick<
  PolicySettings,
  'loss' | 'aggregation' | 'shaping' | 'kl' | 'entropy' | 'exactEntropy'
> {
  advantage: AdvantageSettings | AdvantagesOfGroups
}

/** An answer and how to learn from it. */
export interface Example {
  answer: Answer
  /** Advantage for RL. 0 counts in the normaliser only; absent = not trained by RL. */
  advantage?: AnswerAdvantage
  /** Weight of the answer's cross-entropy, relative to other examples. Default: 0. */
  imitation?: number
}

/**
 * The rule of a preset of `agoge train --algorithm`, with the passes and resampling that it is published with.
 *
 * @throws AgogeError `unknown-algorithm` for an unknown name, `bad-config` if the prefix tree lacks one of its parts.
 * @example
 * reinforce(policy, { ...presetRule('gspo'), questions, steps: 100, learningRate: 10, seed: 1 })
 */
export function presetRule(name: PolicyPresetName): {
  rule: LearningRule
  epochs?: number
  minibatches?: number
  resampling?: number
} {
  const { settings, batch = {} } = findPolicyPreset(name)
  const { advantage, loss, aggregation, shaping, kl, entropy, exactEntropy, ...others } = settings
  const lacking: string[] = Object.keys(others)
  if (kl?.place === 'reward') lacking.push('kl in the reward')
  if (typeof advantage === 'function' || lacking.length > 0)
    throw new AgogeError(`The prefix tree does not learn by "${name}"`, {
      code: 'bad-config',
      given: lacking,
      expected: 'settings of advantage, loss, aggregation, shaping, kl and entropy only',
    })
  const { epochs, minibatches, resampling } = batch
  const rule: LearningRule = {
    advantage,
    loss,
    aggregation,
    ...(shaping && { shaping }),
    ...(kl && { kl }),
    ...(entropy === undefined ? {} : { entropy }),
    ...(exactEntropy === undefined ? {} : { exactEntropy }),
  }
  return {
    rule,
    ...(epochs === undefined ? {} : { epochs }),
    ...(minibatches === undefined ? {} : { minibatches }),
    ...(resampling === undefined ? {} : { resampling }),
  }
}

/** A loss over answers with its gradient with respect to the weights of the policy. */
export interface LossGradient {
  value: number
  /** [features, vocabulary]. */
  gradient: Float64Array
  /** Share of the RL tokens at which a clip stopped or bounded the gradient. */
  clipFraction: number
  /** Over RL tokens: probability under the policy divided by that under the sampler. 1 without RL tokens. */
  lowestRatio: number
  highestRatio: number
}

/**
 * The library's loss of these answers under the policy, with its gradient. The library gives d loss / d logprob of each
 * token; softmax and features do the rest.
 *
 * @param reference needed if the rule has a divergence in the loss.
 * @throws AgogeError `bad-config` for a divergence in the reward, an adaptive coefficient, or a missing reference.
 */
export function lossGradient(
  policy: PrefixPolicy,
  examples: readonly Example[],
  rule: Omit<LearningRule, 'advantage' | 'shaping'>,
  reference?: PrefixPolicy,
): LossGradient {
  const tokens = flatTokens(policy, examples, rule, reference)
  const {
    value,
    gradient: ofLogprobs,
    clipFraction,
  } = combineLosses(lossTerms(tokens, rule).map((loss) => ({ loss, coefficient: 1 })))
  const { vocabulary } = policy.tree
  const gradient = new Float64Array(policy.weights.length)
  const ofLogits = new Float64Array(vocabulary)
  const bonus = rule.exactEntropy === undefined ? undefined : entropyBonus(policy, tokens, rule.exactEntropy)
  for (let t = 0; t < tokens.count; t++) {
    const own = ofLogprobs[t] / tokens.temperatures[t]
    if (own === 0 && bonus === undefined) continue
    const at = tokens.nodes[t] * vocabulary
    const row = policy.logprobs(tokens.nodes[t], tokens.temperatures[t])
    for (let v = 0; v < vocabulary; v++) {
      ofLogits[v] = -own * Math.exp(row[at + v])
      if (bonus !== undefined) ofLogits[v] += bonus.gradient[t * vocabulary + v] / tokens.temperatures[t]
    }
    ofLogits[tokens.chosen[t]] += own
    addToFeatures(policy.tree, tokens.nodes[t], ofLogits, gradient)
  }
  return { value: value + (bonus?.value ?? 0), gradient, clipFraction, ...ratios(tokens) }
}

/** The tokens of all examples in flat arrays, as the library's losses take them. */
interface FlatTokens {
  count: number
  nodes: Int32Array
  chosen: Int32Array
  temperatures: Float64Array
  starts: Int32Array
  logprobs: Float64Array
  samplerLogprobs: Float64Array
  referenceLogprobs: Float32Array
  advantages: Float64Array
  /** Weights of RL and of cross-entropy. */
  weights: Float64Array
  imitation: Float64Array
}

function flatTokens(
  policy: PrefixPolicy,
  examples: readonly Example[],
  { aggregation, kl }: Pick<LearningRule, 'aggregation' | 'kl'>,
  reference: PrefixPolicy | undefined,
): FlatTokens {
  if (kl !== undefined && (reference === undefined || kl.place !== 'loss' || kl.adapt !== undefined))
    throw new AgogeError('The prefix tree cannot compute this divergence', {
      code: 'bad-config',
      given: { kl, reference: reference !== undefined },
      expected: "a divergence with place 'loss' and a fixed coefficient, and a reference",
    })
  const lengthsIf = (counts: (example: Example) => boolean): number[] =>
    examples.map((example) => (counts(example) ? example.answer.tokens.length : 0))
  const reinforced = tokenWeights(
    lengthsIf(({ advantage }) => advantage !== undefined),
    aggregation,
  )
  const cloned = tokenWeights(
    lengthsIf(({ imitation = 0 }) => imitation !== 0),
    { mode: 'token-mean' },
  )
  const count = examples.reduce((sum, { answer }) => sum + answer.tokens.length, 0)
  const flat: FlatTokens = {
    count,
    nodes: new Int32Array(count),
    chosen: new Int32Array(count),
    temperatures: new Float64Array(count),
    starts: new Int32Array(examples.length),
    logprobs: new Float64Array(count),
    samplerLogprobs: new Float64Array(count),
    referenceLogprobs: new Float32Array(count),
    advantages: new Float64Array(count),
    weights: new Float64Array(count),
    imitation: new Float64Array(count),
  }
  const { vocabulary } = policy.tree
  let at = 0
  for (const [e, { answer, advantage = 0, imitation = 0 }] of examples.entries()) {
    flat.starts[e] = at
    const { temperature } = answer
    for (let t = 0; t < answer.tokens.length; t++, at++) {
      const node = answer.nodes[t]
      const place = node * vocabulary + answer.tokens[t]
      flat.nodes[at] = node
      flat.chosen[at] = answer.tokens[t]
      flat.temperatures[at] = temperature
      flat.logprobs[at] = policy.logprobs(node, temperature)[place]
      flat.samplerLogprobs[at] = answer.logprobs[t]
      if (kl !== undefined) flat.referenceLogprobs[at] = reference!.logprobs(node, temperature)[place]
      flat.advantages[at] = typeof advantage === 'number' ? advantage : advantage[t]
      flat.weights[at] = reinforced[e]
      flat.imitation[at] = imitation * cloned[e]
    }
  }
  return flat
}

function lossTerms(tokens: FlatTokens, { loss, kl, entropy }: Omit<LearningRule, 'advantage'>): LossValue[] {
  const scaled = (coefficient: number): Float64Array => tokens.weights.map((weight) => coefficient * weight)
  const terms = [
    losses[loss.name].compute(tokens, loss),
    crossEntropyLoss({ logprobs: tokens.logprobs, weights: tokens.imitation }),
  ]
  if (kl !== undefined) {
    const inputs = { ...tokens, weights: scaled(kl.coefficient) }
    terms.push(kl.estimator === 'unbiased-k3' ? unbiasedKlLoss(inputs) : klLoss(inputs, kl.estimator))
  }
  if (entropy !== undefined) terms.push(sampledEntropyLoss({ ...tokens, weights: scaled(fixed(entropy)) }))
  return terms
}

function entropyBonus(
  policy: PrefixPolicy,
  { count, nodes, temperatures, weights }: FlatTokens,
  coefficient: NonNullable<LearningRule['exactEntropy']>,
): ReturnType<typeof entropyLoss> {
  const { vocabulary } = policy.tree
  const logits = new Float64Array(count * vocabulary)
  for (let t = 0; t < count; t++) {
    const at = nodes[t] * vocabulary
    logits.set(policy.logprobs(nodes[t], temperatures[t]).subarray(at, at + vocabulary), t * vocabulary)
  }
  return entropyLoss({ logits, vocabulary, weights }, { coefficient: fixed(coefficient) })
}

function fixed(coefficient: NonNullable<LearningRule['entropy']>): number {
  if (typeof coefficient === 'number') return coefficient
  throw new AgogeError('The prefix tree does not adapt the coefficient of the entropy', {
    code: 'bad-config',
    given: coefficient,
    expected: 'a number',
  })
}

function ratios({ count, weights, logprobs, samplerLogprobs }: FlatTokens): {
  lowestRatio: number
  highestRatio: number
} {
  let lowest = Infinity
  let highest = -Infinity
  for (let t = 0; t < count; t++) {
    if (weights[t] === 0) continue
    const ratio = Math.exp(logprobs[t] - samplerLogprobs[t])
    lowest = Math.min(lowest, ratio)
    highest = Math.max(highest, ratio)
  }
  return highest < 0 ? { lowestRatio: 1, highestRatio: 1 } : { lowestRatio: lowest, highestRatio: highest }
}
