import { average } from '../../../statistics/statistics.ts'
import { promptOf, setupId } from '../../setup/setup.ts'
import type { Lever, LeverContext } from '../lever.ts'
import type { ModelTraining } from '../model-training.ts'
import { lacksTokens, tokensIn, withTrained } from './trained-setup.ts'

const leastSteps = 5
const mostSteps = 30
const rounds = 8
/** Share of the failures that a training is expected to turn into successes. */
const learnable = 0.25

/**
 * Trains the local model by reinforcement learning on the training tasks, with the scores of the config as the reward. It starts from the best setup that
 * the search has found: its model, if that is local, and with what it adds to the prompt, so that the model learns what the prompt alone does not
 * bring about. If the model gains, it is trained on from there.
 *
 * Source: Shao et al., DeepSeekMath (GRPO, arXiv 2402.03300).
 */
export const rl: Lever = {
  name: 'rl',
  source: 'GRPO (arXiv 2402.03300)',
  hasFew: true,
  unusable(context) {
    const { training } = context
    if (typeof training === 'string') return training
    return lacksTokens(leastSteps * tokensOfStep(context, training), training)
  },
  // Only another start than before may bring more: a model that gained is one.
  waitsFor: ({ bestFound, candidates }) =>
    candidates.some(({ from }) => from === setupId(bestFound))
      ? 'it has begun from the best setup before'
      : undefined,
  upfront(context) {
    const { training } = context
    if (typeof training === 'string') return { tokens: 0, dollars: 0 }
    return { tokens: stepsFor(context, training) * tokensOfStep(context, training), dollars: 0 }
  },
  // Where nothing succeeds there is nothing to reinforce.
  expects({ bestFound, trials }) {
    const success = average(trials(bestFound).map(({ record }) => Number(record.success === true)))
    return success === 0 ? 0 : (1 - success) * learnable
  },
  async propose(context) {
    const { training, round, bestFound } = context
    if (typeof training === 'string' || round >= rounds) return []
    const steps = stepsFor(context, training)
    if (steps < leastSteps) return []
    const name = `rl-${round}`
    const prompt = promptOf(bestFound)
    const from = bestFound.model
    const trained = await training.train({
      name,
      tokens: Math.ceil(steps * tokensOfStep(context, training)),
      method: { name: 'rl', steps, prompt },
      ...(from !== undefined && training.canTrain(from) && { from }),
    })
    return trained === undefined ? [] : [{ ...withTrained(prompt, name, trained), from: setupId(bestFound) }]
  },
}

const stepsFor = (context: LeverContext, training: ModelTraining): number =>
  Math.min(mostSteps, Math.floor(training.share() / tokensOfStep(context, training)))

/** Each episode is sampled and trained on; answers may become longer than they were before. */
function tokensOfStep(
  { trials, original, bestFound }: LeverContext,
  { episodesOfStep }: ModelTraining,
): number {
  const known = trials(bestFound)
  const of = known.length > 0 ? known : trials(original)
  return Math.ceil(2.5 * episodesOfStep * Math.max(1, average(of.map(tokensIn))))
}
