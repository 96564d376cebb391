import { percentInterval, pointsInterval } from '../../runs/report/format.ts'
import { AgogeError } from '../../error.ts'
import { compareWithBaseline, type EvaluationResult, type ModelEvaluation } from './evaluation.ts'

/** What a matcher returns, as `expect.extend` of vitest and jest takes it. */
export interface MatcherResult {
  pass: boolean
  message: () => string
}

/**
 * Matchers for `expect` of vitest or jest, over the result of `evaluate`. They fail only for what the evaluation shows, not for chance:
 * a few tasks more or less do not turn a test red.
 *
 * @example
 * expect.extend(evaluationMatchers)
 * const result = await evaluate(config).result
 * expect(result).toSucceed({ atLeast: 0.8 })
 * expect(result).notToRegressFrom(JSON.parse(readFileSync('main.json', 'utf8')))
 */
export const evaluationMatchers = {
  /**
   * Fails if the 95% interval of success lies wholly below `atLeast`, or nothing could be judged.
   *
   * @param model one of several models. Default: each of them must hold.
   */
  toSucceed(
    result: EvaluationResult,
    { atLeast, model }: { atLeast: number; model?: string },
  ): MatcherResult {
    const models = modelsOf(result, model)
    const below = models.filter(({ success }) => success.n === 0 || success.high < atLeast)
    const text = models.map(
      ({ name, success }) => `${name} ${success.n === 0 ? 'not judged' : percentInterval(success)}`,
    )
    return {
      pass: below.length === 0,
      message: () => `success: ${text.join(', ')}; asked for: ${(100 * atLeast).toFixed(0)}%`,
    }
  },

  /** Fails if a model is shown to be worse than in an earlier evaluation: the whole 95% interval of the paired difference is below zero. */
  notToRegressFrom(
    result: EvaluationResult,
    baseline: Pick<EvaluationResult, 'models' | 'records'>,
  ): MatcherResult {
    if (result.sequential !== undefined)
      throw new AgogeError('an evaluation that stopped when it was certain has intervals of its own', {
        code: 'bad-argument',
        given: 'a result of untilCertain',
        expected: 'a result of all tasks, or its `sequential` comparisons with the baseline',
      })
    const names = result.models.map(({ name }) => name)
    const paired = compareWithBaseline(names, result.records, baseline)
    if (paired.length === 0)
      throw new AgogeError('the earlier evaluation has none of these models', {
        code: 'unpaired',
        given: baseline.models.map(({ name }) => name).join(', '),
        expected: names.join(', '),
      })
    const worse = paired.filter(({ high }) => high !== null && high < 0)
    return {
      pass: worse.length === 0,
      message: () =>
        paired
          .map((comparison) => `${comparison.a} now less before: ${pointsInterval(comparison)}`)
          .join('; '),
    }
  },
}

function modelsOf({ models }: EvaluationResult, model: string | undefined): ModelEvaluation[] {
  const found = models.filter(({ name }) => model === undefined || name === model)
  if (found.length > 0) return found
  throw new AgogeError('the evaluation has no such model', {
    code: 'unknown-model',
    given: model,
    expected: models.map(({ name }) => name).join(', '),
  })
}
