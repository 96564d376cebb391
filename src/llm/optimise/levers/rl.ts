import { average } from '../../../statistics/statistics.ts'
import { plainSetup } from '../../setup/setup.ts'
import type { Lever, LeverContext } from '../lever.ts'
import type { ModelTraining } from '../model-training.ts'
import { lacksTokens, tokensIn, withTrained } from './trained-setup.ts'

const leastSteps = 5
const mostSteps = 30
const rounds = 3

/**
 * Trains the local model by reinforcement learning on the training tasks, with the scores of the config as the reward. If the model gains, it is
 * trained on from there.
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
  upfront: (context) =>
    typeof context.training === 'string'
      ? 0
      : stepsFor(context, context.training) * tokensOfStep(context, context.training),
  async propose(context) {
    const { training, round, best, candidates } = context
    if (typeof training === 'string' || round >= rounds) return []
    const from = candidates.some(({ setup }) => setup.model === best.model) ? best.model : undefined
    // Only a model that gained is trained further.
    if (round > 0 && from === undefined) return []
    const perStep = tokensOfStep(context, training)
    const steps = stepsFor(context, training)
    if (steps < leastSteps) return []
    const name = `rl-${round}`
    const tokens = Math.ceil(steps * perStep)
    const trained = await training.train({
      name,
      tokens,
      method: { name: 'rl', steps },
      ...(from !== undefined && { from }),
    })
    return trained === undefined ? [] : [withTrained(plainSetup, name, trained)]
  },
}

const stepsFor = (context: LeverContext, training: ModelTraining): number =>
  Math.min(mostSteps, Math.floor(training.share() / tokensOfStep(context, training)))

/** Each episode is sampled and trained on; answers may become longer than they were before. */
function tokensOfStep({ trials, original }: LeverContext, { episodesOfStep }: ModelTraining): number {
  return Math.ceil(2.5 * episodesOfStep * Math.max(1, average(trials(original).map(tokensIn))))
}
