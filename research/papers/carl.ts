import { cartPole, evaluateAgent, ppo, ppoPresets } from 'agoge'
import { contextSampler, createVectorEnvironment, learnUntil, visibleContext } from 'agoge/classic'
import type { ClassicAgent, EnvironmentDefinition } from 'agoge/classic'
import { definePaper } from '../runner/paper.ts'
import { average } from 'agoge/statistics'
import type { ArmResult, ArmRun } from '../runner/paper.ts'

const vary = ['poleHalfLength', 'cartMass', 'force'] as const

/** Zero-shot return in contexts of a set. */
async function playIn(
  set: 'interpolation' | 'extrapolation',
  agent: Pick<ClassicAgent, 'predict'>,
  definition: EnvironmentDefinition,
  { seed, budget }: ArmRun,
): Promise<number> {
  const contexts = contextSampler(definition.context, { vary, set, seed })
  const contextFor = (episode: number) => contexts(0, episode)
  const { returns } = await evaluateAgent(agent, definition, { episodes: budget.episodes, seed, contextFor })
  return average(returns)
}

/** Trains on the training contexts and evaluates on unseen ones. */
async function zeroShot(definition: EnvironmentDefinition, run: ArmRun, steps: number): Promise<ArmResult> {
  const { seed } = run
  const { numEnvs, ...config } = ppoPresets['sb3-zoo-cartpole']
  const environment = createVectorEnvironment(definition, {
    numEnvs,
    seed,
    contextFor: contextSampler(definition.context, { vary, seed }),
  })
  environment.reset()
  const agent = await ppo(config)(environment, { seed, totalSteps: run.budget.steps })
  await learnUntil(environment, agent, { steps })
  const inside = await playIn('interpolation', agent, definition, run)
  const outside = await playIn('extrapolation', agent, definition, run)
  await agent.dispose()
  return { score: (inside + outside) / 2, measures: { inside, outside } }
}

export default definePaper({
  id: 'carl',
  title: 'Contextualize Me: The Case for Context in Reinforcement Learning',
  theme: 'contextual',
  claim:
    'The same agent plays contexts that it was not trained on better where it sees the context than where the context is hidden.',
  arms: {
    visible: (run) => zeroShot(visibleContext(cartPole, vary), run, run.budget.steps),
    hidden: (run) => zeroShot(cartPole, run, run.budget.steps),
    'barely-trained': (run) => zeroShot(cartPole, run, run.budget.barely),
  },
  metric: 'zero-shot return in CartPole, mean over held-out contexts inside and outside the training range',
  budget: { steps: 50_000, barely: 256, episodes: 100 },
  quick: { steps: 512, barely: 256, episodes: 4 },
  pairing: 'seed',
  effect: { better: 'visible', than: ['hidden'], atLeast: 25 },
  checks: [
    { about: 'the agent has learned to balance', arm: 'hidden', of: 'inside', atLeast: 80 },
    { about: 'contexts matter: outside the range it is harder', arm: 'hidden', of: 'outside', atMost: 400 },
  ],
  control: { positive: { better: 'hidden', than: 'barely-trained', atLeast: 25 }, same: 'hidden' },
  simplifications: [
    'CartPole alone, with three features that vary, stands for the suite of environments of the paper',
  ],
})
