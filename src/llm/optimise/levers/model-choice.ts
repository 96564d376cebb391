import { average } from '../../../statistics/statistics.ts'
import { fitRoute, routingSize } from '../../setup/routing.ts'
import type { AgentSetup } from '../../setup/setup.ts'
import type { Lever, LeverContext, Proposal } from '../lever.ts'
import { scoreByTask } from '../setup-trials.ts'

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
  // A route is made from trials of every model on every training task.
  upfront(context) {
    const { round, models, train, trials } = context
    const missing = models.map((model) => train.length - trials(withModel(model, context)).length)
    const count = round === 1 ? missing.reduce((sum, one) => sum + one, 0) : 0
    const costs = trials().map(({ record }) => record.cost)
    return {
      tokens: count * average(costs.map(({ tokens }) => tokens)),
      dollars: count * average(costs.map(({ dollars }) => dollars)),
    }
  },
  expects: (context) => (context.round === 1 ? routingGain(context) : undefined),
  async propose(context) {
    const { models, round } = context
    if (round === 0)
      return models
        .slice(1)
        .map((model): Proposal => ({ setup: withModel(model, context), about: `the model ${model}` }))
    if (round > 1) return []
    const routing = { models: await fitAll(context), size: routingSize }
    return [{ setup: { ...withModel(models[0], context), routing }, about: 'the model by the request' }]
  },
}

/** The best setup with another model. The first is the agent's own, and its setup names none, so that its trials are known. */
function withModel(name: string, { best, models }: LeverContext): AgentSetup {
  const { model: _, ...base } = best
  return name === models[0] ? base : { ...base, model: name }
}

/**
 * Half of what a route that is always right would add to the better model, by the tasks that all models have tried: what is learned from few tasks is
 * often wrong. Undefined if there is no such task.
 */
function routingGain(context: LeverContext): number | undefined {
  const scores = context.models.map((model) => scoreByTask(context.trials(withModel(model, context))))
  const tasks = [...scores[0].keys()].filter((task) => scores.every((of) => of.has(task)))
  if (tasks.length === 0) return undefined
  const successes = tasks.map((task) => scores.map((of) => of.get(task) ?? 0))
  const ofModels = scores.map((_, at) => average(successes.map((of) => of[at])))
  return (average(successes.map((of) => Math.max(...of))) - Math.max(...ofModels)) / 2
}

async function fitAll(context: LeverContext): Promise<Record<string, number[]>> {
  const { models, train, tryOut } = context
  const weights: Record<string, number[]> = {}
  for (const model of models) {
    const trials = await tryOut(withModel(model, context), train)
    const judged = trials.filter(({ record }) => record.success !== null)
    weights[model] = fitRoute(
      judged.map(({ task, record }) => ({ text: task.prompt, success: Number(record.success === true) })),
    )
  }
  return weights
}
