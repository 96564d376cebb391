import type { PrefixPolicy } from './policy.ts'
import type { PrefixTree } from './tree.ts'

/** Exact properties of a policy at temperature 1, means over questions. */
export interface ExactValues {
  /** Expected reward. */
  reward: number
  /** Probability that an answer is solved: its true reward is at least 1. */
  passAt1: number
  /** Of each question, in the order given. */
  passByQuestion: number[]
  /** Probability that at least one of k answers is solved. */
  passAt: (k: number) => number
  /** Expected tokens of an answer. */
  length: number
  /** Entropy of a whole answer, in nats. */
  entropy: number
}

/** Which reward: the true one, or the one that training sees, noise included. */
export type RewardKind = 'true' | 'training'

/** Expected value of an answer's outcome from each node of a question on, written into `values` [nodes]. */
function backUp(
  policy: PrefixPolicy,
  question: number,
  outcome: (at: number) => number,
  values: Float64Array,
  step: (node: number) => number = () => 0,
): number {
  const { roots, children, vocabulary } = policy.tree
  for (let node = roots[question + 1] - 1; node >= roots[question]; node--) {
    const row = policy.logprobs(node)
    let value = step(node)
    for (let v = 0; v < vocabulary; v++) {
      const at = node * vocabulary + v
      value += Math.exp(row[at]) * (children[at] < 0 ? outcome(at) : values[children[at]])
    }
    values[node] = value
  }
  return values[roots[question]]
}

/** The reward of an answer that ends at an index of the tree, noise included. */
function outcomeOf(tree: PrefixTree, question: number, kind: RewardKind): (at: number) => number {
  if (kind === 'true') return (at) => tree.rewards[at]
  const { noise = 0 } = tree.questions[question]
  return (at) => tree.trainingRewards[at] * (1 - noise) + (1 - tree.trainingRewards[at]) * noise
}

/** Probability of each question that an answer is solved. The cheapest of the exact values. */
export function passRates(policy: PrefixPolicy, questions: readonly number[]): number[] {
  const { tree } = policy
  const values = new Float64Array(tree.featureStart.length - 1)
  return questions.map((question) => backUp(policy, question, (at) => Number(tree.rewards[at] >= 1), values))
}

/** Walks the whole tree. Default: all questions, true reward. */
export function exactValues(
  policy: PrefixPolicy,
  questions: readonly number[] = policy.tree.questions.map((_, q) => q),
  kind: RewardKind = 'true',
): ExactValues {
  const { tree } = policy
  const { vocabulary } = tree
  const values = new Float64Array(tree.featureStart.length - 1)
  const mean = (of: (question: number) => number): number =>
    questions.reduce((sum, question) => sum + of(question), 0) / questions.length
  const nodeEntropy = (node: number): number => {
    const row = policy.logprobs(node)
    let entropy = 0
    for (let at = node * vocabulary; at < (node + 1) * vocabulary; at++)
      entropy -= Math.exp(row[at]) * row[at]
    return entropy
  }
  const nothing = (): number => 0
  const passByQuestion = passRates(policy, questions)
  return {
    reward: mean((question) => backUp(policy, question, outcomeOf(tree, question, kind), values)),
    passAt1: passByQuestion.reduce((sum, pass) => sum + pass, 0) / questions.length,
    passByQuestion,
    passAt: (k) => passByQuestion.reduce((sum, pass) => sum + 1 - (1 - pass) ** k, 0) / questions.length,
    length: mean((question) => backUp(policy, question, nothing, values, () => 1)),
    entropy: mean((question) => backUp(policy, question, nothing, values, nodeEntropy)),
  }
}

/**
 * The gradient of the expected reward with respect to the weights, [features, vocabulary]: at each node `P(node) *
 * p(token) * (Q(node, token) - V(node))`, spread over the node's features. The policy gradient theorem without
 * sampling. Default: all questions, true reward.
 */
export function exactGradient(
  policy: PrefixPolicy,
  questions: readonly number[] = policy.tree.questions.map((_, q) => q),
  kind: RewardKind = 'true',
): Float64Array {
  const { tree } = policy
  const { roots, children, vocabulary } = tree
  const gradient = new Float64Array(policy.weights.length)
  const values = new Float64Array(tree.featureStart.length - 1)
  const reached = new Float64Array(values.length)
  const ofLogits = new Float64Array(vocabulary)
  for (const question of questions) {
    const outcome = outcomeOf(tree, question, kind)
    backUp(policy, question, outcome, values)
    reached[roots[question]] = 1 / questions.length
    for (let node = roots[question]; node < roots[question + 1]; node++) {
      const row = policy.logprobs(node)
      for (let v = 0; v < vocabulary; v++) {
        const at = node * vocabulary + v
        const p = Math.exp(row[at])
        const child = children[at]
        if (child >= 0) reached[child] = reached[node] * p
        ofLogits[v] = reached[node] * p * ((child < 0 ? outcome(at) : values[child]) - values[node])
      }
      addToFeatures(tree, node, ofLogits, gradient)
    }
  }
  return gradient
}

/** Adds the derivatives with respect to the logits of a node to those of the weights. */
export function addToFeatures(
  { featureStart, featureOf, featureValue, vocabulary }: PrefixTree,
  node: number,
  ofLogits: Float64Array,
  gradient: Float64Array,
): void {
  for (let i = featureStart[node]; i < featureStart[node + 1]; i++) {
    const row = featureOf[i] * vocabulary
    const value = featureValue[i]
    for (let v = 0; v < vocabulary; v++) gradient[row + v] += value * ofLogits[v]
  }
}

/** Cosine of the angle between two gradients; 0 if one of them is zero. */
export function cosine(a: Float64Array, b: Float64Array): number {
  let product = 0
  let ofA = 0
  let ofB = 0
  for (let i = 0; i < a.length; i++) {
    product += a[i] * b[i]
    ofA += a[i] * a[i]
    ofB += b[i] * b[i]
  }
  return ofA === 0 || ofB === 0 ? 0 : product / Math.sqrt(ofA * ofB)
}

/** Euclidean norm. */
export function norm(a: Float64Array): number {
  let sum = 0
  for (const value of a) sum += value * value
  return Math.sqrt(sum)
}
