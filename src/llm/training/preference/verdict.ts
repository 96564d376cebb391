import { bradleyTerryLoss } from '../../algorithm/preference/reward-model.ts'
import type { ModelBackend } from '../../model-backend.ts'
import { readSums } from './answer-sums.ts'
import type { Answer, PreferenceMethod, PreferencePair } from './types.ts'

/** How a language model is asked what it thinks of an answer. */
export interface VerdictSettings {
  /** What stands between the answer and the verdict; may be empty. */
  question?: Int32Array
  /** The token whose log-probability is the score. */
  yes: number
}

/**
 * A generative reward model: the score of an answer is the log-probability of a verdict after it, trained by the loss of Bradley
 * and Terry. It needs nothing but `forward`, so any backend can be one; scores are at most 0.
 *
 * Sources: generative verifiers (arXiv 2408.15240); loss: InstructGPT (arXiv 2203.02155), eq. 1.
 *
 * @returns a method for `trainPreferences`; `verdictScores` then scores with it.
 */
export function verdict(settings: VerdictSettings): PreferenceMethod<PreferencePair> {
  const compared = ({ prompt, chosen, rejected }: PreferencePair): [Answer, Answer] => [
    asked({ prompt, tokens: chosen }, settings),
    asked({ prompt, tokens: rejected }, settings),
  ]
  return {
    name: 'verdict',
    usesReference: false,
    answers: (pairs) => pairs.map(compared),
    compared,
    loss([chosen, rejected]) {
      const value = bradleyTerryLoss({ chosen: chosen.logprobs, rejected: rejected.logprobs })
      const ahead = chosen.logprobs.map((logprob, i) => logprob - rejected.logprobs[i])
      return {
        value: value.value,
        gradients: [value.chosen, value.rejected],
        margin: ahead.reduce((sum, each) => sum + each, 0) / ahead.length,
        accuracy: value.accuracy,
      }
    },
    score: (logprob) => logprob,
  }
}

/** What the model thinks of answers: a log-probability each. */
export async function verdictScores(
  backend: Pick<ModelBackend, 'forward'>,
  answers: readonly Answer[],
  settings: VerdictSettings & { signal?: AbortSignal },
): Promise<number[]> {
  const { signal } = settings
  const sums = await readSums(
    backend,
    answers.map((answer) => asked(answer, settings)),
    signal === undefined ? {} : { signal },
  )
  return [...sums]
}

/** The verdict as an answer to all that was said. */
function asked({ prompt, tokens }: Answer, { question = Int32Array.of(), yes }: VerdictSettings): Answer {
  return { prompt: Int32Array.of(...prompt, ...tokens, ...question), tokens: Int32Array.of(yes) }
}
