import type { SampledAnswer } from 'agoge/llm'
import type { TextModel } from '../testbeds/tiny-transformer/text-model.ts'

/**
 * Natural log-probabilities under a model at temperature 1 of the tokens of answers, from any source; one array per
 * answer.
 */
export async function answerLogprobs(
  { backend }: TextModel,
  answers: readonly Pick<SampledAnswer, 'prompt' | 'tokens'>[],
): Promise<Float32Array[]> {
  const rows = await backend.forward(answers.map(({ prompt, tokens }) => Int32Array.of(...prompt, ...tokens)))
  return rows.map((row, i) => row.slice(answers[i].prompt.length))
}

/** A question with its reference solution. */
export interface Question {
  prompt: string
  solution: string
  /** Reward of a completed answer. Default: 1 for the exact solution, otherwise 0. */
  judge?: (answer: string) => number
}

/** The model's answer to a question. */
export interface Attempt<Q extends Question = Question> extends SampledAnswer {
  question: Q
  text: string
  /** 0 if the answer was cut off. */
  reward: number
}

export interface AttemptSettings {
  /** Key of the random numbers, together with the seed; different for each call. */
  name: string
  seed: number
  maxTokens: number
  /** Number of answers to each question, or to the one with this index. Default: 1. */
  groupSize?: number | ((index: number) => number)
  /** Default: 1; 0 = greedy. */
  temperature?: number
  topP?: number
  /** The prompt for the question with this index. Default: its own prompt. */
  shown?: (question: Question, index: number) => string
}

/** Samples answers of the model to each question, with rewards. */
export async function attempt<Q extends Question>(
  { backend, symbols }: TextModel,
  questions: readonly Q[],
  settings: AttemptSettings,
): Promise<Attempt<Q>[][]> {
  const { name, seed, maxTokens, temperature = 1, groupSize = 1, topP, shown } = settings
  const sizeOf = typeof groupSize === 'number' ? () => groupSize : groupSize
  const requests = questions.flatMap((question, at) => {
    const prompt = symbols.encode(shown === undefined ? question.prompt : shown(question, at))
    return Array.from({ length: sizeOf(at) }, (_, member) => ({ prompt, key: `${name}/${at}/${member}` }))
  })
  const cut = topP === undefined ? {} : { topP }
  const outputs = await backend.sample(requests, {
    seed,
    maxTokens,
    temperature,
    stop: [symbols.end],
    ...cut,
  })
  let at = 0
  return questions.map((question, i) =>
    outputs.slice(at, (at += sizeOf(i))).map((output, member) => {
      const text = symbols.decode(output.tokens)
      const { prompt } = requests[at - sizeOf(i) + member]
      return {
        ...output,
        prompt,
        temperature,
        question,
        text,
        reward: output.finish === 'stop' ? rewardOf(question, text) : 0,
      }
    }),
  )
}

/** Reward of a completed answer. */
export const rewardOf = ({ judge, solution }: Question, answer: string): number =>
  judge === undefined ? Number(answer === solution) : judge(answer)
