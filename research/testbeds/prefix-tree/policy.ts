import { AgogeError } from 'agoge'
import type { Random } from 'agoge/engine'
import type { PrefixTree } from './tree.ts'

/** A softmax policy whose logits are linear in the features of the prefix. */
export interface PrefixPolicy {
  readonly tree: PrefixTree
  /** [features, vocabulary], row-major. Call `changed` after writing into it. */
  readonly weights: Float64Array
  /** Must be called after the weights were changed. */
  changed(): void
  /** Log-probabilities of the tokens at a node, in a shared array from index `node * vocabulary` on. Default temperature: 1. */
  logprobs(node: number, temperature?: number): Float64Array
}

/** A policy with all weights 0, so that every answer of a given length is equally likely. */
export function createPrefixPolicy(tree: PrefixTree, weights?: Float64Array): PrefixPolicy {
  const { vocabulary, featureStart, featureOf, featureValue } = tree
  const own = weights?.slice() ?? new Float64Array(tree.features.size * vocabulary)
  const nodes = featureStart.length - 1
  const cached = new Float64Array(nodes * vocabulary)
  // The version of the weights and the temperature that a row of the cache belongs to.
  const versions = new Int32Array(nodes)
  const temperatures = new Float64Array(nodes)
  let version = 1

  function fill(node: number, temperature: number): void {
    const at = node * vocabulary
    cached.fill(0, at, at + vocabulary)
    for (let i = featureStart[node]; i < featureStart[node + 1]; i++) {
      const row = featureOf[i] * vocabulary
      const value = featureValue[i] / temperature
      for (let v = 0; v < vocabulary; v++) cached[at + v] += value * own[row + v]
    }
    let most = -Infinity
    for (let v = 0; v < vocabulary; v++) most = Math.max(most, cached[at + v])
    let sum = 0
    for (let v = 0; v < vocabulary; v++) sum += Math.exp(cached[at + v] - most)
    const shift = most + Math.log(sum)
    for (let v = 0; v < vocabulary; v++) cached[at + v] -= shift
    versions[node] = version
    temperatures[node] = temperature
  }

  return {
    tree,
    weights: own,
    changed: () => void version++,
    logprobs(node, temperature = 1) {
      if (versions[node] !== version || temperatures[node] !== temperature) fill(node, temperature)
      return cached
    },
  }
}

/** A copy with weights of its own, such as a frozen reference. */
export const copyPolicy = ({ tree, weights }: PrefixPolicy): PrefixPolicy => createPrefixPolicy(tree, weights)

/** An answer with what is needed to learn from it. All arrays have one entry per token. */
export interface Answer {
  /** Index of the question in the tree. */
  question: number
  tokens: number[]
  /** The node at which each token was chosen. */
  nodes: number[]
  /** Under the policy that sampled the answer, at its temperature. */
  logprobs: number[]
  temperature: number
  /** As training sees it. */
  reward: number
  /** The true reward. */
  score: number
  truncated: boolean
}

/** Samples one answer. Default temperature: 1. */
export function sampleAnswer(
  policy: PrefixPolicy,
  question: number,
  random: Random,
  temperature = 1,
): Answer {
  const { roots, vocabulary, children } = policy.tree
  const tokens: number[] = []
  const nodes: number[] = []
  const logprobs: number[] = []
  let node = roots[question]
  while (node >= 0) {
    const row = policy.logprobs(node, temperature)
    const at = node * vocabulary
    let left = random.next()
    let token = 0
    for (; token < vocabulary - 1; token++) {
      left -= Math.exp(row[at + token])
      if (left < 0) break
    }
    tokens.push(token)
    nodes.push(node)
    logprobs.push(row[at + token])
    node = children[at + token]
  }
  return withRewards(
    policy.tree,
    { question, tokens, nodes, logprobs, temperature, reward: 0, score: 0, truncated: false },
    random,
  )
}

/** Samples several answers to a question. Default temperature: 1. */
export const sampleGroup = (
  policy: PrefixPolicy,
  question: number,
  random: Random,
  { size, temperature = 1 }: { size: number; temperature?: number },
): Answer[] => Array.from({ length: size }, () => sampleAnswer(policy, question, random, temperature))

/**
 * The answer with these tokens, with its log-probabilities under the policy: a demonstration, or the tokens of an
 * answer that was sampled in another context, as an answer to this question.
 *
 * @throws AgogeError `shape-mismatch` if the tokens are no complete answer.
 */
export function answerOf(
  policy: PrefixPolicy,
  question: number,
  tokens: readonly number[],
  temperature = 1,
): Answer {
  const { roots, vocabulary, children } = policy.tree
  const nodes: number[] = []
  const logprobs: number[] = []
  let node = roots[question]
  for (const token of tokens) {
    if (node < 0 || !(token >= 0 && token < vocabulary)) throw notComplete(policy.tree, question, tokens)
    nodes.push(node)
    logprobs.push(policy.logprobs(node, temperature)[node * vocabulary + token])
    node = children[node * vocabulary + token]
  }
  if (node >= 0) throw notComplete(policy.tree, question, tokens)
  return withRewards(policy.tree, {
    question,
    tokens: [...tokens],
    nodes,
    logprobs,
    temperature,
    reward: 0,
    score: 0,
    truncated: false,
  })
}

/**
 * An answer that was sampled to one question, such as one with a hint, as an answer to another. The reward is the other
 * question's; the sampler's log-probabilities stay, so that the ratio compares both contexts.
 *
 * @throws AgogeError `shape-mismatch` if the tokens are no complete answer to the other question.
 */
export function asAnswerTo(policy: PrefixPolicy, answer: Answer, question: number): Answer {
  const { tokens, logprobs, temperature } = answer
  return { ...answerOf(policy, question, tokens, temperature), logprobs }
}

/** Adds its rewards to an answer. Without a random stream, training sees no noise. */
function withRewards(
  { questions, vocabulary, rewards, trainingRewards, truncated }: PrefixTree,
  answer: Answer,
  random?: Random,
): Answer {
  const { nodes, tokens, question } = answer
  const { noise = 0 } = questions[question]
  const at = nodes[nodes.length - 1] * vocabulary + tokens[tokens.length - 1]
  const flips = noise > 0 && random !== undefined && random.next() < noise
  answer.reward = flips ? 1 - trainingRewards[at] : trainingRewards[at]
  answer.score = rewards[at]
  answer.truncated = truncated[at] === 1
  return answer
}

const notComplete = ({ questions }: PrefixTree, question: number, tokens: readonly number[]): AgogeError =>
  new AgogeError(`These tokens are no complete answer to question "${questions[question].key}"`, {
    code: 'shape-mismatch',
    given: [...tokens],
    expected: 'the tokens of an answer up to its end',
  })
