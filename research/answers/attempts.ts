import type { SampledAnswer } from 'agoge/llm'
import type { TextModel } from './text-model.ts'

/** A question with what a teacher would say to it. */
export interface Question {
  prompt: string
  solution: string
  /** The reward of an answer that came to its end; by default 1 for the solution itself, else 0. */
  judge?: (answer: string) => number
}

/** What the model said to a question. */
export interface Attempt<Q extends Question = Question> extends SampledAnswer {
  question: Q
  text: string
  /** 0 where it did not come to an end within its tokens. */
  reward: number
}

export interface AttemptSettings {
  /** Keys the random numbers, with the seed; another one each time. */
  name: string
  seed: number
  maxTokens: number
  /** Answers to each question, or to the one with this index; default 1. */
  groupSize?: number | ((index: number) => number)
  /** Default 1; 0 = the likeliest answer. */
  temperature?: number
  topP?: number
  /** What the model is shown of the question with this index. Default: its prompt. */
  shown?: (question: Question, index: number) => string
}

/** Answers of the model to each question, judged. */
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

/** What an answer to the end is worth. */
export const rewardOf = ({ judge, solution }: Question, answer: string): number =>
  judge === undefined ? Number(answer === solution) : judge(answer)
