import { ktoLoss, ktoReference } from '../../algorithm/preference/kto.ts'
import { AgogeError } from '../../../error.ts'
import { answersOf } from './pair-methods.ts'
import type { LabelledAnswer, PreferenceMethod } from './types.ts'

export interface KtoMethodSettings {
  /** Default 0.1. */
  beta?: number
  /** Of the good and of the bad answers; with unequal numbers chosen so that number x weight is within 1 to 4/3. */
  desirableWeight?: number
  undesirableWeight?: number
}

/**
 * Kahneman-Tversky optimisation (arXiv 2402.01306): single answers, each liked or not. The reference point of a batch comes from
 * each prompt with the answer of the next example, so neighbours have to be of different prompts: put pairs' good answers first,
 * then the bad ones.
 *
 * @throws AgogeError for fewer than two examples.
 */
export function kto(settings: KtoMethodSettings = {}): PreferenceMethod<LabelledAnswer> {
  const { beta = 0.1 } = settings
  const score = (logprob: number, reference: number): number => beta * (logprob - reference)
  return {
    name: 'kto',
    usesReference: true,
    answers(examples) {
      if (examples.length < 2)
        throw new AgogeError('KTO compares answers with those of other prompts', {
          code: 'bad-config',
          given: examples.length,
          expected: 'at least two labelled answers',
        })
      return examples.map((example, i) => {
        const { weights, tokens } = examples[(i + 1) % examples.length]
        const mismatched = { prompt: example.prompt, tokens, ...(weights === undefined ? {} : { weights }) }
        return [example, mismatched]
      })
    },
    compared: answersOf,
    loss([answers, mismatched], examples) {
      const desirable = examples.map((example) => example.desirable)
      const reference = ktoReference(mismatched.logprobs, mismatched.reference)
      const { value, gradient } = ktoLoss(
        { logprobs: answers.logprobs, referenceLogprobs: answers.reference, desirable },
        { ...settings, beta, reference },
      )
      const scores = Array.from(answers.logprobs, (logprob, i) => score(logprob, answers.reference[i]))
      const right = scores.filter((each, i) =>
        desirable[i] ? each > beta * reference : each < beta * reference,
      )
      return {
        value,
        gradients: [gradient, new Float32Array(gradient.length)],
        margin: meanWhere(scores, desirable, true) - meanWhere(scores, desirable, false),
        accuracy: right.length / scores.length,
      }
    },
    score,
  }
}

/** 0 where the batch has none. */
function meanWhere(values: readonly number[], labels: readonly boolean[], wanted: boolean): number {
  const chosen = values.filter((_, i) => labels[i] === wanted)
  return chosen.length === 0 ? 0 : chosen.reduce((sum, value) => sum + value, 0) / chosen.length
}
