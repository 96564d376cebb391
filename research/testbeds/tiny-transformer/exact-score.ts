import { average } from 'agoge/statistics'
import type { TextModel } from './text-model.ts'
import type { TinyQuestion, TinyTask } from './tasks.ts'

/** Every answer to one prompt that the policy gives with at least the smallest probability. */
export interface AnswerTree {
  answers: { text: string; tokens: Int32Array; probability: number }[]
  /** Probability of the answers that were not followed. The exact value of any score in [0, 1] is within it. */
  leftOut: number
  /** Probability of an answer that reaches the limit of tokens without an end. */
  cut: number
}

interface TreeOptions {
  maxTokens: number
  smallest?: number
  counts?: (prompt: number, text: string) => boolean
}

interface Branch {
  prompt: number
  tokens: number[]
  probability: number
}

/**
 * The distribution of answers at temperature 1, by forward passes over the tree of their prefixes, one pass per length
 * over all prompts.
 *
 * @param smallest prefixes with a smaller probability are not followed. Default: 0.001.
 * @param counts whether an answer matters. Default: all do. Prefixes that leave room for nothing but the end are followed
 *   only if they do; an answer that does not may then be missing, and `cut` too low.
 */
export async function answerTrees(
  { backend, symbols }: TextModel,
  prompts: readonly Int32Array[],
  { maxTokens, smallest = 1e-3, counts }: TreeOptions,
): Promise<AnswerTree[]> {
  const trees = prompts.map((): AnswerTree => ({ answers: [], leftOut: 0, cut: 0 }))
  let branches: Branch[] = prompts.map((_, prompt) => ({ prompt, tokens: [], probability: 1 }))
  for (let length = 0; length < maxTokens && branches.length > 0; length++) {
    const outputs = await backend.sample(
      branches.map(({ prompt, tokens }, i) => ({
        prompt: Int32Array.from([...prompts[prompt], ...tokens]),
        key: `tree/${i}`,
      })),
      { seed: 0, maxTokens: 1, temperature: 1, stop: [symbols.end], topLogprobs: symbols.size },
    )
    const next: Branch[] = []
    for (const [b, branch] of branches.entries()) {
      const tree = trees[branch.prompt]
      for (const { token, logprob } of outputs[b].topLogprobs?.[0] ?? []) {
        const probability = branch.probability * Math.exp(logprob)
        const tokens = [...branch.tokens, token]
        if (token === symbols.end)
          tree.answers.push({ text: symbols.decode(tokens), tokens: Int32Array.from(tokens), probability })
        else if (length + 1 === maxTokens) tree.cut += probability
        else if (length + 2 === maxTokens && counts?.(branch.prompt, symbols.decode(tokens)) === false)
          continue
        else if (probability < smallest) tree.leftOut += probability
        else next.push({ prompt: branch.prompt, tokens, probability })
      }
    }
    branches = next
  }
  return trees
}

/** Natural log-probability that the policy answers each prompt with these texts and ends there. */
export async function textLogprobs(
  { backend, symbols }: TextModel,
  pairs: readonly { prompt: Int32Array; text: string }[],
): Promise<number[]> {
  const rows = await backend.forward(
    pairs.map(({ prompt, text }) => Int32Array.from([...prompt, ...symbols.encode(text), symbols.end])),
  )
  return rows.map((row, i) => {
    let sum = 0
    for (let t = pairs[i].prompt.length; t < row.length; t++) sum += row[t]
    return sum
  })
}

/** What the policy scores on fixed questions at temperature 1. */
export interface ExactScore {
  /** Mean probability of a right answer, in [0, 1]: pass@1. With two turns: right in the first or the second. */
  passAt1: number
  /** The probability for each question. */
  byQuestion: readonly number[]
  /** Largest amount by which `passAt1` may be too low. 0 if the task has one right answer and one turn. */
  leftOut: number
}

export interface ScoreOptions {
  /** As in `answerTrees`. */
  smallest?: number
  /** What the model reads. Default: the question's prompt. */
  shown?: (question: TinyQuestion) => string
}

/**
 * The probability of a right answer to each question, computed and not sampled. A task with one right answer takes one
 * pass over the solutions; others take the tree of answers.
 */
export async function scoreExactly(
  model: TextModel,
  task: TinyTask,
  questions: readonly TinyQuestion[],
  { smallest = 1e-3, shown = ({ prompt }) => prompt }: ScoreOptions = {},
): Promise<ExactScore> {
  const prompts = questions.map((question) => model.symbols.encode(shown(question)))
  if (task.oneRightAnswer && task.turns === 1) {
    const sums = await textLogprobs(
      model,
      questions.map(({ solution }, i) => ({ prompt: prompts[i], text: solution })),
    )
    return scoreOf(sums.map(Math.exp), 0)
  }
  const { maxTokens, turns } = task
  // A second turn follows wrong answers.
  const counts = turns === 2 ? {} : { counts: (i: number, text: string) => questions[i].judge(text) > 0 }
  const trees = await answerTrees(model, prompts, { maxTokens, smallest, ...counts })
  const first = trees.map(({ answers }, i) =>
    answers.reduce((sum, { text, probability }) => sum + probability * questions[i].judge(text), 0),
  )
  const missed = trees.map(({ leftOut }) => leftOut)
  if (turns === 1) return scoreOf(first, average(missed))
  return scoreOf(
    ...(await addSecondTurn({ model, task, questions, prompts, trees, first, missed, smallest })),
  )
}

const scoreOf = (byQuestion: readonly number[], leftOut: number): ExactScore => ({
  passAt1: average(byQuestion),
  byQuestion,
  leftOut,
})

interface SecondTurn {
  model: TextModel
  task: TinyTask
  questions: readonly TinyQuestion[]
  prompts: readonly Int32Array[]
  trees: readonly AnswerTree[]
  first: readonly number[]
  missed: readonly number[]
  smallest: number
}

/** Adds, for every wrong first answer, its probability times that of a right second one. */
async function addSecondTurn(given: SecondTurn): Promise<[number[], number]> {
  const { model, task, questions, prompts, trees, first, missed, smallest } = given
  const sums = [...first]
  const lost = [...missed]
  const wrong: { question: number; probability: number; prompt: Int32Array }[] = []
  for (const [question, { answers }] of trees.entries())
    for (const { text, tokens, probability } of answers) {
      if (questions[question].judge(text) === 1) continue
      if (probability < smallest) lost[question] += probability
      else {
        const said = model.symbols.encode(task.feedback(questions[question], text))
        const prompt = Int32Array.from([...prompts[question], ...tokens, ...said])
        wrong.push({ question, probability, prompt })
      }
    }
  const logprobs = await textLogprobs(
    model,
    wrong.map(({ prompt, question }) => ({ prompt, text: questions[question].solution })),
  )
  for (const [i, { question, probability }] of wrong.entries())
    sums[question] += probability * Math.exp(logprobs[i])
  return [sums, average(lost)]
}

/** The mean over questions of the probability that at least one of k independent answers is right. */
export const passAtK = ({ byQuestion }: Pick<ExactScore, 'byQuestion'>, k: number): number =>
  average(byQuestion.map((probability) => 1 - (1 - Math.min(1, probability)) ** k))
