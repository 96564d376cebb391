import { cartPole, evaluateAgent, ppo, ppoPresets, trainClassic } from 'agoge'
import { contextSampler, visibleContext } from 'agoge/classic'
import type { EnvironmentDefinition } from 'agoge/classic'
import { definePaper } from '../runner/paper.ts'
import { average } from 'agoge/statistics'
import type { ArmRun } from '../runner/paper.ts'

const vary = ['poleHalfLength', 'cartMass', 'force'] as const

/** Trains on the training contexts and evaluates on unseen ones. */
async function zeroShot(definition: EnvironmentDefinition, { seed, budget }: ArmRun): Promise<number> {
  const { numEnvs, ...config } = ppoPresets['sb3-zoo-cartpole']
  const { agent } = await trainClassic({
    definition,
    algorithm: ppo(config),
    numEnvs,
    seed,
    steps: budget.steps,
    contextFor: contextSampler(definition.context, { vary, seed }),
    evaluate: { every: 0, episodes: 1 },
  })
  const returns: number[] = []
  for (const set of ['interpolation', 'extrapolation'] as const) {
    const contexts = contextSampler(definition.context, { vary, set, seed })
    const contextFor = (episode: number) => contexts(0, episode)
    const played = await evaluateAgent(agent, definition, { episodes: budget.episodes, seed, contextFor })
    returns.push(average(played.returns))
  }
  await agent.dispose()
  return average(returns)
}

export default definePaper({
  id: 'carl',
  title: 'Contextualize Me: The Case for Context in Reinforcement Learning',
  theme: 'contextual',
  claim:
    'The same agent plays contexts that it was not trained on better where it sees the context than where the context is hidden.',
  arms: {
    visible: (run) => zeroShot(visibleContext(cartPole, vary), run),
    hidden: (run) => zeroShot(cartPole, run),
  },
  metric: 'zero-shot return in CartPole, mean over held-out contexts inside and outside the training range',
  budget: { steps: 50_000, episodes: 200 },
  quick: { steps: 512, episodes: 4 },
  pairing: 'seed',
  effect: { better: 'visible', than: ['hidden'], atLeast: 25 },
  simplifications: [
    'CartPole alone, with three features that vary, stands for the suite of environments of the paper',
  ],
})
