import { cartPole, evaluateAgent, ppo, ppoPresets, trainArray } from 'agoge'
import { contextSampler, visibleContext } from 'agoge/environment'
import type { World } from 'agoge/environment'
import { definePaper, mean } from 'agoge/evaluation'
import type { ArmRun } from 'agoge/evaluation'

const vary = ['poleHalfLength', 'cartMass', 'force'] as const

/** Trains over the contexts of training and plays in others, which it never saw. */
async function zeroShot(world: World, { seed, budget }: ArmRun): Promise<number> {
  const { slots, ...config } = ppoPresets['sb3-zoo-cartpole']
  const { agent } = await trainArray({
    world,
    algorithm: ppo(config),
    slots,
    seed,
    steps: budget.steps,
    contextFor: contextSampler(world.context, { vary, seed }),
    evaluate: { every: 0, episodes: 1 },
  })
  const returns: number[] = []
  for (const set of ['interpolation', 'extrapolation'] as const) {
    const contexts = contextSampler(world.context, { vary, set, seed })
    const contextFor = (episode: number) => contexts(0, episode)
    const played = await evaluateAgent(agent, world, { episodes: budget.episodes, seed, contextFor })
    returns.push(mean(played.returns))
  }
  await agent.dispose()
  return mean(returns)
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
  seeds: 10,
  budget: { steps: 50_000, episodes: 200 },
  quick: { steps: 512, episodes: 4 },
  expect: { better: 'visible', than: ['hidden'] },
  standIns: ['CartPole alone, with three features that vary, stands for the suite of worlds of the paper'],
})
