import { createAdam, createRandom, normalValues } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import { denoise, deviation, dot, reach, size, states } from '../testbeds/flow-policy/flow-policy.ts'

const batch = 20
/** The state, and the action of the base policy for those that correct it. */
const inputs = states + size
type Kind = 'noise' | 'residual' | 'scratch' | 'weights'
/** Spreads and learning rates at the start, the best of a few for each. */
const spreads = { noise: 1, scratch: 0.5, residual: 0.05, weights: deviation }
const rates = { noise: 0.03, scratch: 0.03, residual: 0.003, weights: 0.03 }

/** Mean success over training by policy gradients: of a Gaussian over noise, over a correction, over actions, or of the mixture itself. */
function learn({ seed, budget }: ArmRun, kind: Kind, rate = rates[kind]): ArmResult {
  const task = reach(seed)
  const random = createRandom('learn', seed)
  // Rows of the mean, linear in the state; the logarithm of the spread; the preference for the second mode.
  const weights = new Float32Array(size * inputs + 2)
  weights[size * inputs] = Math.log(spreads[kind])
  const [adam, gradient] = [createAdam(weights.length), new Float32Array(weights.length)]
  function episode() {
    const state = [1, ...normalValues(random, states - 1, 1)]
    const modes = task.modes(state)
    const chance = 1 / (1 + Math.exp(-weights[size * inputs + 1]))
    const second = random.next() < chance
    const base =
      kind === 'residual'
        ? denoise(modes, normalValues(random, size, 1))
        : Array.from({ length: size }, () => 0)
    const seen = [...state, ...base]
    const noise = normalValues(random, size, 1)
    const spread = Math.exp(weights[size * inputs])
    const own = Array.from(noise, (value, k) => dot(weights.subarray(k * inputs), seen) + spread * value)
    const from = kind === 'weights' ? modes[Number(second)] : base
    const action = kind === 'noise' ? denoise(modes, own) : own.map((value, k) => value + from[k])
    return { seen, noise, chance, second, success: task.succeeds(state, action) }
  }
  const start = average(Array.from({ length: 200 }, () => episode().success))
  const successes: number[] = []
  for (let update = 0; update < budget.episodes / batch; update++) {
    const played = Array.from({ length: batch }, () => episode())
    const baseline = average(played.map(({ success }) => success))
    const spread = Math.exp(weights[size * inputs])
    gradient.fill(0)
    for (const { seen, noise, chance, second, success } of played) {
      const advantage = -(success - baseline) / batch
      noise.forEach((value, k) => {
        for (let i = 0; i < inputs; i++) gradient[k * inputs + i] += (advantage * value * seen[i]) / spread
        gradient[size * inputs] += advantage * (value * value - 1)
      })
      gradient[size * inputs + 1] += advantage * (Number(second) - chance)
    }
    adam.step(weights, gradient, rate)
    successes.push(baseline)
  }
  const moved = Math.hypot(...Array.from({ length: size }, (_, k) => weights[k * inputs]))
  return { score: average(successes), start, measures: { moved } }
}

export default definePaper({
  id: 'dsrl',
  title: 'Steering Your Diffusion Policy with Latent Space Reinforcement Learning',
  theme: 'control',
  claim:
    'Choosing the initial noise of a frozen diffusion policy by reinforcement learning succeeds with fewer episodes than correcting its actions, than fine-tuning its weights, and than learning actions from scratch.',
  arms: {
    noise: (run) => learn(run, 'noise'),
    residual: (run) => learn(run, 'residual'),
    weights: (run) => learn(run, 'weights'),
    scratch: (run) => learn(run, 'scratch'),
    frozen: (run) => learn(run, 'noise', 0),
  },
  metric: 'share of 2000 episodes of training that succeed',
  pairing: 'seed',
  effect: { better: 'noise', than: ['residual', 'weights', 'scratch'], atLeast: 0.1 },
  checks: [
    { about: 'the base policy succeeds at times', arm: 'noise', of: 'start', atLeast: 0.2, atMost: 0.6 },
    { about: 'random actions do not', arm: 'scratch', of: 'start', atMost: 0.05 },
    { about: 'the noise is steered', arm: 'noise', of: 'moved', atLeast: 0.3 },
    { about: 'it is not', arm: 'frozen', of: 'moved', atMost: 0 },
  ],
  control: { positive: { better: 'weights', than: 'frozen', atLeast: 0.1 }, same: 'weights' },
  budget: { episodes: 2000 },
  quick: { episodes: 40 },
  simplifications: [
    'the base policy is the exact flow of a mixture of two Gaussians in four dimensions, by state; none is trained',
    'episodes have one action; plain policy gradients with linear means stand for actor-critic methods',
    'fine-tuning changes the means, the spread and the shares of the mixture; a network of a diffusion policy has more weights',
    'that a correction can hardly change the mode follows by construction; it sees the action of the base policy',
    'learning rates of 0.003, 0.01, 0.03 and 0.1 for all arms, three first spreads for corrections and two from scratch were compared',
  ],
})
