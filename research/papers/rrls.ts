import { cartPole, evaluateAgent, ppo, ppoPresets } from 'agoge'
import { bestArm, createVectorEnvironment, learnUntil } from 'agoge/classic'
import type { Context, EnvironmentDefinition } from 'agoge/classic'
import { definePaper } from '../runner/paper.ts'
import { average } from 'agoge/statistics'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
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

/** Chooses the context of the next episode, and is given the return of the last one in that environment. */
type Nature = (envIndex: number, lastReturn: number) => Context

/** Trains for some steps in the contexts that `nature` chooses; the score is the lowest return over the corners. */
async function worstCase({ seed, budget }: ArmRun, nature: Nature, steps = budget.steps): Promise<ArmResult> {
  const { numEnvs, ...config } = ppoPresets['sb3-zoo-cartpole']
  const lengths = new Int32Array(numEnvs)
  const counted: EnvironmentDefinition = {
    ...cartPole,
    step(envs, i, random) {
      lengths[i]++
      cartPole.step(envs, i, random)
    },
  }
  const trained: number[] = []
  const environment = createVectorEnvironment(counted, {
    numEnvs,
    seed,
    contextFor(envIndex) {
      trained.push(lengths[envIndex])
      const context = nature(envIndex, lengths[envIndex])
      lengths[envIndex] = 0
      return context
    },
  })
  environment.reset()
  const agent = await ppo(config)(environment, { seed, totalSteps: budget.steps })
  await learnUntil(environment, agent, { steps })
  const returns: number[] = []
  for (const corner of corners) {
    const options = { episodes: budget.episodes, seed, contextFor: () => corner }
    returns.push(average((await evaluateAgent(agent, cartPole, options)).returns))
  }
  await agent.dispose()
  const measures = { mean: average(returns), inTraining: average(trained.slice(-50)) }
  return { score: Math.min(...returns), measures }
}

const randomised = ({ seed }: ArmRun): Nature => {
  const random = createRandom('uncertainty', seed)
  return () => contextAt((low, high) => low + (high - low) * random.next())
}

/** Half of the time the corner where the last returns were lowest, otherwise a random context of the set. */
function adversary(run: ArmRun): Nature {
  const random = createRandom('adversary', run.seed)
  const elsewhere = randomised(run)
  const recent = new Float64Array(corners.length)
  const corner: (number | undefined)[] = []
  return (envIndex, lastReturn) => {
    const last = corner[envIndex]
    if (last !== undefined) recent[last] += 0.2 * (lastReturn - recent[last])
    if (random.next() < 0.5) {
      corner[envIndex] = undefined
      return elsewhere(envIndex, lastReturn)
    }
    const chosen = bestArm(corners.length, (k) => -recent[k])
    corner[envIndex] = chosen
    return corners[chosen]
  }
}

export default definePaper({
  id: 'rrls',
  title: 'RRLS: Robust Reinforcement Learning Suite',
  theme: 'contextual',
  claim:
    'Training against an adversary that chooses physical parameters where the agent does worst gives a better worst case in the uncertainty set than training over the set at random, and than training at the nominal parameters.',
  arms: {
    adversarial: (run) => worstCase(run, adversary(run)),
    randomised: (run) => worstCase(run, randomised(run)),
    nominal: (run) => worstCase(run, () => ({})),
    'barely-trained': (run) => worstCase(run, randomised(run), 256),
  },
  metric: 'return in CartPole in the worst of the eight corners of the uncertainty set',
  pairing: 'seed',
  effect: { better: 'adversarial', than: ['randomised', 'nominal'], atLeast: 20 },
  checks: [
    { about: 'the adversary makes training harder', arm: 'adversarial', of: 'inTraining', atMost: 350 },
    { about: 'the agent learns over the set', arm: 'randomised', of: 'mean', atLeast: 100 },
  ],
  control: { positive: { better: 'randomised', than: 'barely-trained', atLeast: 20 }, same: 'randomised' },
  budget: { steps: 50_000, episodes: 20 },
  quick: { steps: 512, episodes: 2 },
  simplifications: [
    'CartPole stands for the six MuJoCo tasks',
    'the adversary chooses among corners for an episode, by the last returns there, and does not change parameters within it',
  ],
})
