import { cartPole, evaluateAgent, ppo, ppoPresets, trainClassic } from 'agoge'
import type { Context } from 'agoge/classic'
import { definePaper } from '../runner/paper.ts'
import { average } from 'agoge/statistics'
import type { ArmRun } from '../runner/paper.ts'
import { createRandom } from 'agoge/engine'

/** The uncertainty set of physical parameters. CartPole's own are cart 1 kg, pole 0.1 kg, half length 0.5 m. */
const ranges = { cartMass: [0.5, 5], poleMass: [0.05, 1], poleHalfLength: [0.25, 2] } as const
type Place = (low: number, high: number) => number

const contextAt = (place: Place): Context =>
  Object.fromEntries(Object.entries(ranges).map(([name, [low, high]]) => [name, place(low, high)]))

/** Its eight corners. */
const corners = Array.from({ length: 8 }, (_, corner) => {
  let bits = corner
  return contextAt((low, high) => {
    const end = bits & 1 ? high : low
    bits >>= 1
    return end
  })
})

/** Trains in the contexts that `context` draws; the score is the lowest return over the corners. */
async function worstCase(
  { seed, budget }: ArmRun,
  context: (random: ReturnType<typeof createRandom>) => Context,
): Promise<number> {
  const { numEnvs, ...config } = ppoPresets['sb3-zoo-cartpole']
  const { agent } = await trainClassic({
    definition: cartPole,
    algorithm: ppo(config),
    numEnvs,
    seed,
    steps: budget.steps,
    contextFor: (envIndex, episode) => context(createRandom('uncertainty', seed, envIndex, episode)),
    evaluate: { every: 0, episodes: 1 },
  })
  const returns: number[] = []
  for (const corner of corners) {
    const options = { episodes: budget.episodes, seed, contextFor: () => corner }
    returns.push(average((await evaluateAgent(agent, cartPole, options)).returns))
  }
  await agent.dispose()
  return Math.min(...returns)
}

export default definePaper({
  id: 'rrls',
  title: 'RRLS: Robust Reinforcement Learning Suite',
  theme: 'contextual',
  claim:
    'Training over the whole uncertainty set of physical parameters gives a better worst case in it than training at the nominal parameters.',
  arms: {
    randomised: (run) =>
      worstCase(run, (random) => contextAt((low, high) => low + (high - low) * random.next())),
    extremes: (run) => worstCase(run, (random) => random.pick(corners)),
    nominal: (run) => worstCase(run, () => ({})),
  },
  metric: 'return in CartPole in the worst of the eight corners of the uncertainty set',
  budget: { steps: 50_000, episodes: 20 },
  quick: { steps: 512, episodes: 2 },
  pairing: 'seed',
  effect: { better: 'randomised', than: ['nominal'], atLeast: 20 },
  simplifications: [
    'CartPole stands for the six MuJoCo tasks',
    'no adversary learns; the corners are drawn blindly',
  ],
})
