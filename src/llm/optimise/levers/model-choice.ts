import { fitRoute, routingSize } from '../../setup/routing.ts'
import type { Lever, LeverContext, Proposal } from '../lever.ts'

/**
 * Another model of the config for all requests, or for each request the one that did such requests best.
 *
 * Source: contextual bandits with linear payoffs, LinUCB (arXiv 1003.0146); here every model is tried on every training task, so nothing needs to be
 * explored and the fit is its ridge regression.
 */
export const modelChoice: Lever = {
  name: 'model-choice',
  source: 'LinUCB (arXiv 1003.0146)',
  unusable: ({ models }) => (models.length < 2 ? 'the config has one model' : undefined),
  async propose(context) {
    const { best, models, round } = context
    const [own, ...others] = models
    if (round === 0)
      return others.map((model): Proposal => ({ setup: { ...best, model }, about: `the model ${model}` }))
    if (round > 1) return []
    const { model: _, ...base } = best
    return [
      {
        setup: { ...base, routing: await fitAll(context, [own, ...others]) },
        about: 'the model by the request',
      },
    ]
  },
}

async function fitAll({ best, train, tryOut }: LeverContext, models: readonly string[]) {
  const weights: Record<string, number[]> = {}
  for (const model of models) {
    const trials = await tryOut({ ...best, model }, train)
    const judged = trials.filter(({ record }) => record.success !== null)
    weights[model] = fitRoute(
      judged.map(({ task, record }) => ({ text: task.prompt, success: Number(record.success === true) })),
    )
  }
  return { models: weights, size: routingSize }
}
