import { AgogeError } from 'agoge'

/** A question whose answers are short sequences of tokens, small enough to be enumerated. */
export interface Question {
  /** Unique in its tree. */
  key: string
  /** Most tokens of an answer. */
  maxLength: number
  /** Whether the answer ends with these tokens. Default: only at `maxLength`, and then nothing counts as cut off. */
  ends?(tokens: readonly number[]): boolean
  /** The true reward of a complete answer, which is measured. 1 or more counts as solved. */
  reward(tokens: readonly number[], truncated: boolean): number
  /** What training sees in place of the reward, such as that of a judge that can be fooled. Default: the reward. */
  trainingReward?(tokens: readonly number[], truncated: boolean): number
  /** Probability that training sees `1 - reward` in place of the reward. Default: 0. */
  noise?: number
  /**
   * Features of a prefix with their values. Prefixes with a common feature share its weights, also those of different
   * questions. Default: one feature of its own for each prefix, which is a table.
   */
  features?(prefix: readonly number[]): Readonly<Record<string, number>>
  /** Right answers, for the warm start and as demonstrations. */
  solutions: readonly (readonly number[])[]
  /** Index of the first token of each turn. Default: one turn. */
  turnStarts?: readonly number[]
  /** What the environment rewards each turn with, beside the reward of the answer. Default: nothing. */
  turnRewards?: (tokens: readonly number[]) => readonly number[]
  /** Key of the environment's state before a turn, for advantages among equal states. Default: the prefix. */
  state?: (prefix: readonly number[]) => string
}

/** All prefixes of all answers to all questions. Node `n` and token `v` have the index `n * vocabulary + v`. */
export interface PrefixTree {
  vocabulary: number
  questions: readonly Question[]
  /** Node of the empty prefix of each question. The nodes of question q are `roots[q]` to `roots[q + 1] - 1`. */
  roots: Int32Array
  /** Node after a token; -1 if the token ends the answer. Always greater than the node itself. */
  children: Int32Array
  /** True and training reward of an answer that ends with this token; 0 elsewhere. */
  rewards: Float64Array
  trainingRewards: Float64Array
  /** 1 if an answer that ends with this token was cut off. */
  truncated: Uint8Array
  /** The features of node n are `featureOf[i]` with `featureValue[i]` for i from `featureStart[n]` to `featureStart[n + 1]`. */
  featureStart: Int32Array
  featureOf: Int32Array
  featureValue: Float64Array
  /** Index of each feature by its name. */
  features: ReadonlyMap<string, number>
}

const mostNodes = 200_000

/** Name of the feature that a prefix has for itself by default. */
export const ownFeature = ({ key }: Pick<Question, 'key'>, prefix: readonly number[]): string =>
  `${key}:${prefix.join(',')}`

/**
 * Enumerates all prefixes of the answers.
 *
 * @param vocabulary number of tokens, at least 2.
 * @throws AgogeError `bad-config` for fewer than two tokens, equal keys, or more than 200,000 prefixes.
 */
export function createPrefixTree(questions: readonly Question[], vocabulary: number): PrefixTree {
  if (vocabulary < 2 || new Set(questions.map(({ key }) => key)).size < questions.length)
    throw new AgogeError('The questions make no prefix tree', {
      code: 'bad-config',
      given: { vocabulary, keys: questions.map(({ key }) => key) },
      expected: 'at least 2 tokens, and a key of its own for each question',
    })
  const children: number[] = []
  const rewards: number[] = []
  const trainingRewards: number[] = []
  const truncated: number[] = []
  const featureStart = [0]
  const featureOf: number[] = []
  const featureValue: number[] = []
  const features = new Map<string, number>()

  function addNode(question: Question, prefix: readonly number[]): number {
    const node = children.length / vocabulary
    if (node >= mostNodes) throw tooLarge(question)
    const own = question.features?.(prefix) ?? { [ownFeature(question, prefix)]: 1 }
    for (const [name, value] of Object.entries(own)) {
      if (!features.has(name)) features.set(name, features.size)
      featureOf.push(features.get(name)!)
      featureValue.push(value)
    }
    featureStart.push(featureOf.length)
    for (let v = 0; v < vocabulary; v++) {
      children.push(-1)
      rewards.push(0)
      trainingRewards.push(0)
      truncated.push(0)
    }
    for (let v = 0; v < vocabulary; v++) {
      const tokens = [...prefix, v]
      const at = node * vocabulary + v
      const ended = question.ends?.(tokens) === true
      if (!ended && tokens.length < question.maxLength) {
        children[at] = addNode(question, tokens)
        continue
      }
      const cut = !ended && question.ends !== undefined
      truncated[at] = Number(cut)
      rewards[at] = question.reward(tokens, cut)
      trainingRewards[at] = question.trainingReward?.(tokens, cut) ?? rewards[at]
    }
    return node
  }

  const roots = questions.map((question) => addNode(question, []))
  return {
    vocabulary,
    questions,
    roots: Int32Array.from([...roots, children.length / vocabulary]),
    children: Int32Array.from(children),
    rewards: Float64Array.from(rewards),
    trainingRewards: Float64Array.from(trainingRewards),
    truncated: Uint8Array.from(truncated),
    featureStart: Int32Array.from(featureStart),
    featureOf: Int32Array.from(featureOf),
    featureValue: Float64Array.from(featureValue),
    features,
  }
}

const tooLarge = ({ key, maxLength }: Question): AgogeError =>
  new AgogeError('There are too many prefixes to enumerate', {
    code: 'bad-config',
    given: { question: key, maxLength },
    expected: `at most ${mostNodes} prefixes in all questions`,
    hint: 'Use fewer tokens, shorter answers or fewer questions',
  })
