import { createRandom } from 'agoge/engine'
import type { Random } from 'agoge/engine'
import type { PrefixTask } from './chains.ts'
import { addNoise, raiseWeight, solutionWeights, startAt } from './competence.ts'
import { createPrefixPolicy } from './policy.ts'
import type { PrefixPolicy } from './policy.ts'
import { createPrefixTree, ownFeature } from './tree.ts'
import type { Question } from './tree.ts'

interface Common {
  seed: number
  /** Number of questions. Default: 8. */
  count?: number
  /** Mean pass@1 at the start. Default: see the task. */
  passAt1?: number
  /** Deviation of the noise of the starting weights. Default: 0.3. */
  noise?: number
}

const draw = (random: Random, length: number, from: number, to: number): number[] =>
  Array.from({ length }, () => from + random.int(to - from))

const sameTokens = (a: readonly number[], b: readonly number[]): boolean =>
  a.length === b.length && a.every((token, t) => token === b[t])

/** A noisy policy for these questions. */
function openTask(
  questions: readonly Question[],
  vocabulary: number,
  random: Random,
  noise: number,
): PrefixTask {
  const policy = createPrefixPolicy(createPrefixTree(questions, vocabulary))
  addNoise(policy, random, noise)
  const train = questions.map((_, q) => q)
  return { policy, train, test: train }
}

/** Adds a number to the weights of these tokens at these prefixes, which have a feature of their own. */
function raise(
  { tree, weights }: PrefixPolicy,
  tokensAt: readonly { question: number; prefix: readonly number[]; token: number }[],
  by: number,
): void {
  for (const { question, prefix, token } of tokensAt) {
    const feature = tree.features.get(ownFeature(tree.questions[question], prefix))!
    weights[feature * tree.vocabulary + token] += by
  }
}

/**
 * A rare right token: nearly all answers begin with token 0, which earns `usual` if the rest is right; token 1 earns 1
 * and has the probability to lead to a solution `passAt1` (default: 0.03). With several epochs on a batch a clip bounds
 * how fast it grows. Tokens beyond the first are known well.
 *
 * @param settings.usual reward of the usual answer. Default: 0.3.
 * @param settings.length tokens of an answer. Default: 3. @param settings.vocabulary Default: 6.
 */
export function rareTokenTask(
  settings: Common & { usual?: number; length?: number; vocabulary?: number },
): PrefixTask {
  const { seed, count = 8, passAt1 = 0.03, usual = 0.3, length = 3, vocabulary = 6, noise = 0.3 } = settings
  const random = createRandom(seed, 'rare-token')
  const questions = Array.from({ length: count }, (_, q): Question => {
    const rest = draw(random, length - 1, 0, vocabulary)
    return {
      key: `rare${q}`,
      maxLength: length,
      solutions: [
        [1, ...rest],
        [0, ...rest],
      ],
      reward: ([first, ...tokens]) => (sameTokens(tokens, rest) ? ([usual, 1][first] ?? 0) : 0),
    }
  })
  const task = openTask(questions, vocabulary, random, noise)
  const known = solutionWeights(task.policy.tree)
  for (let i = 0; i < known.length; i++) task.policy.weights[i] += 4 * known[i]
  const direction = new Float64Array(known.length)
  raise(
    { ...task.policy, weights: direction },
    task.train.map((question) => ({ question, prefix: [], token: 1 })),
    1,
  )
  startAt(task.policy, direction, { passAt1, questions: task.train, tolerance: passAt1 / 20 })
  return task
}

/**
 * Variable length: token 0 ends an answer, token 1 is filler that changes nothing, and the other tokens in their order
 * have to be the solution of one to three tokens. How much filler the policy writes is one weight vector that all
 * prefixes share, so that length can drift. Cut off, and wrong, is an answer without an end. Default pass@1: 0.3.
 *
 * @param settings.maxLength Default: 5. @param settings.vocabulary Default: 5.
 * @param settings.filler starting weight of the filler; more makes longer answers. Default: 0.5.
 * @param settings.most tokens of the longest solution. Default: 3.
 */
export function variableLengthTask(
  settings: Common & { maxLength?: number; vocabulary?: number; filler?: number; most?: number },
): PrefixTask {
  const { seed, count = 8, passAt1 = 0.3, noise = 0.3 } = settings
  const { maxLength = 5, vocabulary = 5, filler = 0.5, most = 3 } = settings
  const random = createRandom(seed, 'variable-length')
  const contentOf = (tokens: readonly number[]): number[] => tokens.filter((token) => token > 1)
  const questions = Array.from({ length: count }, (_, q): Question => {
    const solution = draw(random, 1 + (q % most), 2, vocabulary)
    const key = `length${q}`
    return {
      key,
      maxLength,
      solutions: [[...solution, 0]],
      ends: (tokens) => tokens.at(-1) === 0,
      reward: (tokens, truncated) => Number(!truncated && sameTokens(contentOf(tokens), solution)),
      features: (prefix) => ({ [ownFeature({ key }, contentOf(prefix))]: 1, style: 1 }),
    }
  })
  const task = openTask(questions, vocabulary, random, noise)
  const { policy } = task
  policy.weights[policy.tree.features.get('style')! * vocabulary + 1] += filler
  startAt(
    policy,
    solutionWeights(policy.tree, (name) => name !== 'style'),
    { passAt1, questions: task.train },
  )
  return task
}

/**
 * Noisy or hackable reward: one solution per question, and a last token (0) that a judge takes for right whatever stands
 * before it. Training sees the judge, the score does not. Default pass@1: 0.3.
 *
 * @param settings.flips probability that training sees the opposite reward. Default: 0.
 * @param settings.hackReward what the judge gives for the hack; 0 = it cannot be fooled. Default: 1.
 * @param settings.hack starting weight of the hack; more makes it likelier. Default: -1.
 * @param settings.length Default: 3. @param settings.vocabulary Default: 5.
 */
export function hackableRewardTask(
  settings: Common & {
    flips?: number
    hackReward?: number
    hack?: number
    length?: number
    vocabulary?: number
  },
): PrefixTask {
  const { seed, count = 8, passAt1 = 0.3, noise = 0.3 } = settings
  const { flips = 0, hackReward = 1, hack = -1, length = 3, vocabulary = 5 } = settings
  const random = createRandom(seed, 'hackable-reward')
  const questions = Array.from({ length: count }, (_, q): Question => {
    const solution = draw(random, length, 1, vocabulary)
    const key = `judged${q}`
    const reward = (tokens: readonly number[]): number => Number(sameTokens(tokens, solution))
    return {
      key,
      maxLength: length,
      solutions: [solution],
      noise: flips,
      reward,
      trainingReward: (tokens) => (tokens.at(-1) === 0 ? hackReward : reward(tokens)),
      features: (prefix) => ({
        [ownFeature({ key }, prefix)]: 1,
        ...(prefix.length === length - 1 ? { last: 1 } : {}),
      }),
    }
  })
  const task = openTask(questions, vocabulary, random, noise)
  const { policy } = task
  policy.weights[policy.tree.features.get('last')! * vocabulary] += hack
  startAt(
    policy,
    solutionWeights(policy.tree, (name) => name !== 'last'),
    { passAt1, questions: task.train },
  )
  return task
}

/**
 * Credit assignment over turns: each turn is one token, and an answer is right if all turns that matter were. The
 * environment's state says only which turn it is and whether all were right so far, so that answers of a group share
 * states. Default pass@1: 0.3.
 *
 * @param settings.turns Default: 4. @param settings.vocabulary Default: 4.
 * @param settings.decoys how many of the turns do not matter. Default: 2.
 * @param settings.turnReward what the environment rewards a right turn with. Default: 0.
 * @param settings.flips probability that training sees the opposite outcome. Default: 0.
 */
export function turnsTask(
  settings: Common & {
    turns?: number
    vocabulary?: number
    decoys?: number
    turnReward?: number
    flips?: number
  },
): PrefixTask {
  const { seed, count = 8, passAt1 = 0.3, noise = 0.3 } = settings
  const { turns = 4, vocabulary = 4, decoys = 2, turnReward = 0, flips = 0 } = settings
  const random = createRandom(seed, 'turns')
  const places = Array.from({ length: turns }, (_, turn) => turn)
  const questions = Array.from({ length: count }, (_, q): Question => {
    const solution = draw(random, turns, 0, vocabulary)
    const idle = new Set(random.shuffle(places).slice(0, decoys))
    const rights = (tokens: readonly number[]): boolean[] =>
      tokens.map((token, turn) => idle.has(turn) || token === solution[turn])
    const state = (prefix: readonly number[]): string => `${prefix.length}:${rights(prefix).every(Boolean)}`
    const key = `turns${q}`
    return {
      key,
      maxLength: turns,
      solutions: [solution],
      noise: flips,
      reward: (tokens) => Number(rights(tokens).every(Boolean)),
      turnStarts: places,
      turnRewards: (tokens) =>
        rights(tokens).map((right, turn) => (right && !idle.has(turn) ? turnReward : 0)),
      state,
      features: (prefix) => ({ [`${key}:${state(prefix)}`]: 1 }),
    }
  })
  const task = openTask(questions, vocabulary, random, noise)
  startAt(task.policy, solutionWeights(task.policy.tree), { passAt1, questions: task.train })
  return task
}

/** Begins an auxiliary construction in `constructionTask`. The tokens before it are digits. */
export const constructionToken = 7

/**
 * Questions that are easier with a construction (known to the policy in two steps, not in one) and others that are
 * easier without, half each. A construction writes a digit before the answer. Whether to construct is decided by a weight of all questions and one of each.
 */
export function constructionTask({ seed, count = 12 }: Pick<Common, 'seed' | 'count'>): PrefixTask {
  const random = createRandom(seed, 'constructions')
  const questions = Array.from({ length: count }, (_, q): Question => {
    const helps = q % 2 === 0
    const [auxiliary, answer] = [random.int(constructionToken), random.int(constructionToken)]
    const key = `${helps ? 'helps' : 'harms'}${q}`
    const ways = [[answer], [constructionToken, auxiliary, answer]]
    return {
      key,
      maxLength: 3,
      ends: ([first]) => first !== constructionToken,
      reward: (tokens) => Number(ways.some((way) => String(way) === String(tokens))),
      // The direction of the starting competence: the way that the policy knows.
      solutions: [ways[Number(helps)]],
      features: (prefix): Record<string, number> =>
        prefix.length === 0 ? { [`${key}:`]: 1, first: 1 } : { [`${key}:${prefix.join()}`]: 1 },
    }
  })
  const policy = createPrefixPolicy(createPrefixTree(questions, constructionToken + 1))
  addNoise(policy, random, 0.3)
  raiseWeight(policy, 'first', constructionToken, 1.5)
  const train = questions.map((_, q) => q)
  startAt(
    policy,
    solutionWeights(policy.tree, (name) => name !== 'first'),
    { passAt1: 0.4, questions: train },
  )
  return { policy, train, test: train }
}
