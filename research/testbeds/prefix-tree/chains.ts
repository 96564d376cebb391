import { createRandom } from 'agoge/engine'
import type { Random } from 'agoge/engine'
import { addNoise, startAt } from './competence.ts'
import { answerOf, createPrefixPolicy } from './policy.ts'
import type { Answer, PrefixPolicy } from './policy.ts'
import { createPrefixTree, ownFeature } from './tree.ts'
import type { Question } from './tree.ts'

/** A policy at its starting competence, with the questions to train on and those to measure. */
export interface PrefixTask {
  policy: PrefixPolicy
  train: number[]
  /** Equal to `train` where a task has no separate test. */
  test: number[]
}

/** Settings of tasks on chains. */
export interface ChainSettings {
  seed: number
  /** Number of digits, which are the tokens. Default: 4. */
  digits?: number
  /** Numbers of operations of the questions to train on. */
  trainDepths: readonly number[]
  /** Default: those of training. */
  testDepths?: readonly number[]
  /** Questions of each kind. Default: 16. */
  count?: number
  /**
   * How well each operation is known at the start, relative to the others; one entry per operation. Default: three that
   * are known equally well.
   */
  known?: readonly number[]
  /** Mean pass@1 at the start. Default: 0.3. */
  passAt1?: number
  /** Which questions `passAt1` is about. Default: those to train on. */
  competenceOf?: 'train' | 'test'
  /** Value of the features that all questions share: how far practice on one question helps others. Default: 1. */
  shared?: number
  /** Value of the features shared at the same step only: how far practice at one depth fails to help another. Default: 0. */
  byStep?: number
  /** Value of the feature of each prefix itself: how far a question is memorised. Default: 0.5. */
  own?: number
  /** Deviation of the noise of the starting weights. Default: 0.3. */
  noise?: number
  /**
   * Another version of each question to train on, such as one with a hint, which shares features with it. Starting
   * weights of its further features are 0 but for the noise; see `raiseWeight`.
   */
  inContext?: (question: ChainQuestion) => Question
}

/** A question that applies operations to a digit, one after another. The answer writes every intermediate digit. */
export interface ChainQuestion extends Question {
  operations: readonly number[]
  start: number
}

/** A task on chains, with its tables of operations: `apply[operation][digit]`. */
export interface ChainTask extends PrefixTask {
  questions: readonly ChainQuestion[]
  apply: readonly (readonly number[])[]
  /** The version in context of each question to train on, in the order of `train`; empty without. */
  inContext: number[]
}

/**
 * Questions that chain random operations on digits. Right is an answer whose every digit is right: with few
 * digits the last alone would too often be right by chance. The logits of a step are the sum of what all questions know of (operation, digit) and of what the
 * question itself has memorised, so training generalises as far as `shared` outweighs `own`. Train and test questions
 * are disjoint where there are enough of them.
 */
export function chainTask(settings: ChainSettings): ChainTask {
  const { seed, digits = 4, trainDepths, testDepths = trainDepths, count = 16, known = [1, 1, 1] } = settings
  const random = createRandom(seed, 'chain-task')
  const digitList = Array.from({ length: digits }, (_, digit) => digit)
  const apply = known.map(() => random.shuffle(digitList))
  const taken = new Set<string>()
  const draw = (depths: readonly number[], kind: string): ChainQuestion[] =>
    Array.from({ length: count }, (_, i) => {
      const spec = drawChain(random, {
        depth: depths[i % depths.length],
        operations: known.length,
        digits,
        taken,
      })
      return chainQuestion(spec, apply, { ...settings, key: `${kind}${i}` })
    })
  const trained = draw(trainDepths, 'train')
  const tested = draw(testDepths, 'test')
  const questions = [...trained, ...tested]
  const versions = settings.inContext === undefined ? [] : trained.map(settings.inContext)
  const tree = createPrefixTree([...questions, ...versions], digits)
  const policy = createPrefixPolicy(tree)
  const train = trained.map((_, q) => q)
  const test = tested.map((_, q) => trained.length + q)
  addNoise(policy, random, settings.noise ?? 0.3)
  startAt(policy, skillWeights(policy, apply, known), {
    passAt1: settings.passAt1 ?? 0.3,
    questions: settings.competenceOf === 'test' ? test : train,
  })
  const inContext = versions.map((_, q) => questions.length + q)
  return { policy, train, test, questions, apply, inContext }
}

interface Chain {
  operations: readonly number[]
  start: number
}

/** One that was not drawn before, unless a hundred attempts find none. */
function drawChain(
  random: Random,
  from: { depth: number; operations: number; digits: number; taken: Set<string> },
): Chain {
  let chain: Chain = { operations: [], start: 0 }
  for (let attempt = 0; attempt < 100; attempt++) {
    const operations = Array.from({ length: from.depth }, () => random.int(from.operations))
    chain = { operations, start: random.int(from.digits) }
    const name = `${operations.join(',')}|${chain.start}`
    if (from.taken.has(name)) continue
    from.taken.add(name)
    break
  }
  return chain
}

/** A question of a chain task. */
export function chainQuestion(
  { operations, start }: Chain,
  apply: readonly (readonly number[])[],
  {
    key,
    shared = 1,
    byStep = 0,
    own = 0.5,
  }: Pick<ChainSettings, 'shared' | 'byStep' | 'own'> & { key: string },
): ChainQuestion {
  const solution: number[] = []
  for (const operation of operations) solution.push(apply[operation][solution.at(-1) ?? start])
  return {
    key,
    operations,
    start,
    maxLength: operations.length,
    solutions: [solution],
    reward: (tokens) => Number(tokens.every((token, t) => token === solution[t])),
    features(prefix) {
      const step = `${operations[prefix.length]}:${prefix.at(-1) ?? start}`
      return {
        [`skill:${step}`]: shared,
        ...(byStep === 0 ? {} : { [`step${prefix.length}:${step}`]: byStep }),
        ...(own === 0 ? {} : { [ownFeature({ key }, prefix)]: own }),
      }
    },
  }
}

/** The direction from knowing nothing to knowing each operation as well as `known` says. */
function skillWeights(
  { tree, weights }: PrefixPolicy,
  apply: readonly (readonly number[])[],
  known: readonly number[],
): Float64Array {
  const direction = new Float64Array(weights.length)
  for (const [name, feature] of tree.features) {
    const [, operation, digit] = /^(?:skill|step\d+):(\d+):(\d+)$/.exec(name) ?? []
    if (operation === undefined) continue
    direction[feature * tree.vocabulary + apply[Number(operation)][Number(digit)]] = known[Number(operation)]
  }
  return direction
}

/**
 * Mixed difficulty: questions of one to four steps with operations from well known to unknown, so that pass@1 at the
 * start goes from nearly 0 to nearly 1. Other settings: see `ChainSettings`.
 */
export const mixedDifficultyTask = (settings: Partial<ChainSettings> & { seed: number }): ChainTask =>
  chainTask({ trainDepths: [1, 2, 3, 4], known: [2, 1, 0.2], count: 24, ...settings })

/**
 * Shift: training on questions of one or two steps, test on questions of three, of which `passAt1` is the starting
 * competence. `byStep` limits what carries over.
 */
export const shiftTask = (settings: Partial<ChainSettings> & { seed: number }): ChainTask =>
  chainTask({ trainDepths: [1, 2], testDepths: [3], competenceOf: 'test', byStep: 0.5, ...settings })

/**
 * Demonstrations for the questions to train on: solutions of the first `count` of them (scarce), of which the share
 * `wrong` ends with the digit after the right one, always the same error (biased).
 */
export function demonstrations(
  { policy, train }: PrefixTask,
  { count, wrong = 0, seed }: { count: number; wrong?: number; seed: number },
): Answer[] {
  const random = createRandom(seed, 'demonstrations')
  const { questions, vocabulary } = policy.tree
  return train.slice(0, count).map((q) => {
    const solution = [...questions[q].solutions[0]]
    const last = solution.length - 1
    if (random.next() < wrong) solution[last] = (solution[last] + 1) % vocabulary
    return answerOf(policy, q, solution)
  })
}
