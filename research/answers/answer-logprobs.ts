import type { SampledAnswer } from 'agoge/llm'
import type { TextModel } from './text-model.ts'

/** Log-probabilities under a model (natural, at temperature 1) of the tokens of answers, whoever gave them; one array an answer. */
export async function answerLogprobs(
  { backend }: TextModel,
  answers: readonly Pick<SampledAnswer, 'prompt' | 'tokens'>[],
): Promise<Float32Array[]> {
  const rows = await backend.forward(answers.map(({ prompt, tokens }) => Int32Array.of(...prompt, ...tokens)))
  return rows.map((row, i) => row.slice(answers[i].prompt.length))
}
