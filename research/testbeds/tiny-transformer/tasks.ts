import { createRandom, type Random } from 'agoge/engine'

/** A question of a task, with its expert solution. */
export interface TinyQuestion {
  prompt: string
  /** What the expert writes: every intermediate digit. */
  solution: string
  operations: string
  start: number
  /** Number of operations. */
  depth: number
  /** The true judge: 1 for a right answer, otherwise 0. An answer that was cut off is never judged and has 0. */
  judge: (answer: string) => number
}

/** A judge of one answer in training, in place of the true one. `key` differs for every answer. */
export type TrainingJudge = (question: TinyQuestion, answer: string, key: string) => number

export type Split = 'train' | 'validation' | 'test'

/** Questions in three disjoint splits, by the prompt. */
export interface TinyTask {
  /** The characters of prompts, answers and feedback. */
  alphabet: string
  /** Most tokens of prompt, answers and feedback together. */
  window: number
  /** Most tokens of an answer with its end token. */
  maxTokens: number
  /** Attempts per question. After a wrong first one, the model reads `feedback` and answers again. */
  turns: 1 | 2
  /** Whether only the expert's solution is right, so that its probability is the score. */
  oneRightAnswer: boolean
  ask: (operations: string, start: number) => TinyQuestion
  /** Draws a question of the split. Default: training questions of a depth drawn evenly from the task's. */
  draw: (random: Random, options?: { split?: Split; depth?: number }) => TinyQuestion
  /** Fixed distinct questions of these splits. Both have the same shares of depths, as even as the number of questions allows. */
  validation: readonly TinyQuestion[]
  test: readonly TinyQuestion[]
  /** What the model reads after a wrong first answer: how many leading digits were right. */
  feedback: (question: TinyQuestion, answer: string) => string
}

export interface ChainTaskOptions {
  /** Differs by run: the tables of the operations and the choice of the questions. */
  seed: number
  /** Names of the operations. Default: 6. */
  operations?: string
  /** Numbers of operations of a question. Default: 2 and 3. */
  depths?: readonly number[]
  /**
   * `solution`: every intermediate digit must be right, so there is one right answer. `last`: only the last digit is
   * judged, so that short guesses and long derivations can be right. Default: `solution`.
   */
  judged?: 'solution' | 'last'
  /** Default: 1. */
  turns?: 1 | 2
  /** Questions of the test split. Default: 192. */
  testSize?: number
  /** Further characters, such as those of hints. */
  symbols?: string
  /** Room for hints in the prompt, in tokens. Default: 0. */
  extraWindow?: number
}

const digits = 10

/**
 * Chains of operations on digits: `bc.4=` asks to apply b, then c to 4. Each operation is a permutation of the digits.
 * 60% of the questions are for training, 15% for validation, 25% for testing.
 */
export function chainTask(options: ChainTaskOptions): TinyTask {
  const { seed, operations = 'abcdef', depths = [2, 3], judged = 'solution', turns = 1 } = options
  const { testSize = 192, symbols = '', extraWindow = 0 } = options
  const places = Math.max(...depths)
  const names = Array.from(operations)
  const tables = new Map(
    names.map((name) => [
      name,
      createRandom(seed, 'tiny-chains', name).shuffle(Array.from({ length: digits }, (_, i) => i)),
    ]),
  )
  const apply = (operation: string, digit: number): number => tables.get(operation)?.[digit] ?? digit

  function ask(chosen: string, start: number): TinyQuestion {
    const steps: number[] = []
    for (const name of chosen) steps.push(apply(name, steps.at(-1) ?? start))
    const solution = steps.join('')
    const last = solution.slice(-1)
    return {
      prompt: `${chosen.padEnd(places, '.')}${start}=`,
      solution,
      operations: chosen,
      start,
      depth: chosen.length,
      judge:
        judged === 'solution'
          ? (answer) => Number(answer === solution)
          : (answer) => Number(/^\d+$/.test(answer) && answer.endsWith(last)),
    }
  }

  function draw(
    random: Random,
    { split = 'train', depth = random.pick(depths) }: { split?: Split; depth?: number } = {},
  ): TinyQuestion {
    for (;;) {
      const chosen = Array.from({ length: depth }, () => random.pick(names)).join('')
      const question = ask(chosen, random.int(digits))
      if (splitOf(question.prompt) === split) return question
    }
  }

  const all = depths.map((depth) => allChains(names, depth).flatMap((chosen) => startsOf(chosen)))
  function startsOf(chosen: string): TinyQuestion[] {
    return Array.from({ length: digits }, (_, start) => ask(chosen, start))
  }

  /** Questions by depth, in an order that the seed decides. */
  const inSplit = (split: Split): TinyQuestion[][] =>
    all.map((questions, i) =>
      createRandom(seed, 'tiny-chains', split, i).shuffle(
        questions.filter(({ prompt }) => splitOf(prompt) === split),
      ),
    )
  const [validation, test] = fixedSplits([
    { questions: inSplit('validation'), size: 96 },
    { questions: inSplit('test'), size: testSize },
  ])

  const answerLength = places + 2
  return {
    alphabet: `${operations}0123456789.=${turns === 2 ? '!' : ''}${symbols}`,
    window: places + 2 + answerLength + (turns === 2 ? answerLength + 3 : 0) + extraWindow,
    maxTokens: answerLength,
    turns,
    oneRightAnswer: judged === 'solution',
    ask,
    draw,
    validation,
    test,
    feedback: ({ solution }, answer) => `!${rightDigits(solution, answer)}=`,
  }
}

/** All sequences of this many names. */
const allChains = (names: readonly string[], depth: number): string[] =>
  depth === 0 ? [''] : allChains(names, depth - 1).flatMap((chain) => names.map((name) => chain + name))

/**
 * Takes as many questions of each depth, or all of a depth that has too few. The shares of the depths are the same in every
 * split, so that a competence in one is the same in the others.
 */
function fixedSplits(
  splits: readonly { questions: readonly TinyQuestion[][]; size: number }[],
): TinyQuestion[][] {
  const most = splits[0].questions.map((_, depth) =>
    Math.min(...splits.map(({ questions, size }) => questions[depth].length / size)),
  )
  const shares = most.map(() => 0)
  // The depth with the fewest questions first: what it lacks, the others make up.
  const order = most.map((_, depth) => depth).toSorted((a, b) => most[a] - most[b])
  let left = 1
  for (const [i, depth] of order.entries()) {
    shares[depth] = Math.min(most[depth], left / (order.length - i))
    left -= shares[depth]
  }
  return splits.map(({ questions, size }) =>
    questions.flatMap((each, depth) => each.slice(0, Math.round(shares[depth] * size))),
  )
}

function splitOf(prompt: string): Split {
  const place = createRandom('tiny-chains-split', prompt).next()
  return place < 0.25 ? 'test' : place < 0.4 ? 'validation' : 'train'
}

function rightDigits(solution: string, answer: string): number {
  let count = 0
  while (count < solution.length && solution[count] === answer[count]) count++
  return count
}

/** A judge that errs: flips the reward of an answer with this probability. */
export function noisyJudge(flip: number): TrainingJudge {
  return (question, answer, key) => {
    const reward = question.judge(answer)
    return createRandom('noisy-judge', key).next() < flip ? 1 - reward : reward
  }
}

/** A judge with a loophole: accepts every answer that has the last digit of the solution anywhere. */
export const looseJudge: TrainingJudge = ({ solution }, answer) => Number(answer.includes(solution.slice(-1)))

export interface DemonstrationOptions {
  seed: number
  count: number
  /** Share of the demonstrations whose last digit is wrong. Default: 0. */
  wrong?: number
  /** Depths of the questions. Default: those of the task, evenly. */
  depths?: readonly number[]
}

/** Expert solutions of distinct training questions, as scarce and as biased as wanted. */
export function demonstrations(
  task: TinyTask,
  { seed, count, wrong = 0, depths }: DemonstrationOptions,
): { question: TinyQuestion; solution: string }[] {
  const random = createRandom(seed, 'demonstrations')
  const found = new Map<string, { question: TinyQuestion; solution: string }>()
  for (let tries = 0; found.size < count && tries < 50 * count; tries++) {
    const question = task.draw(random, depths === undefined ? {} : { depth: random.pick(depths) })
    const { solution, prompt } = question
    const other = (Number(solution.slice(-1)) + 1 + random.int(digits - 1)) % digits
    found.set(prompt, {
      question,
      solution: random.next() < wrong ? `${solution.slice(0, -1)}${other}` : solution,
    })
  }
  return [...found.values()]
}
