import { createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import { extra, fly, gains, none, usual } from '../testbeds/quadcopter/quadcopter.ts'
import type { Effects } from '../testbeds/quadcopter/quadcopter.ts'
import { each } from '../testbeds/each.ts'

/** Usual gains, integral ones a little above 0, and no residual: the weights of a point of the search. */
const weightsOf = (point: readonly number[]): number[] =>
  point.map((v, k) => (k === 2 || k === 5 ? 2 * v : k < gains.length ? gains[k] * Math.exp(v) : v))

/** An evolution strategy over the weights: the mean of the best quarter of each generation, with a spread that falls. */
function optimise({ seed, budget }: ArmRun, size: number, effects: Effects, spread: number): number[] {
  const random = createRandom('evolution', seed)
  let centre = each(size).map(() => 0)
  for (let generation = 0; generation < budget.generations; generation++) {
    const sigma = spread * 0.05 ** (generation / budget.generations)
    const flights = each(2).map(() => ({ phase: 2 * Math.PI * random.next(), noise: random.next() }))
    const points = each(16).map(() => centre.map((v) => v + sigma * random.normal()))
    const errors = points.map((point) =>
      average(
        flights.map(({ phase, noise }) =>
          fly(weightsOf(point), effects, phase, createRandom('flight', noise)),
        ),
      ),
    )
    const best = each(16)
      .toSorted((a, b) => errors[a] - errors[b])
      .slice(0, 4)
    centre = centre.map((_, k) => average(best.map((i) => points[i][k])))
  }
  return weightsOf(centre)
}

/** A drone whose effects differ from those of the simulator. */
function drone(seed: number, index: number): Effects {
  const random = createRandom('drone', seed, index)
  const vary = (value: number): number => value * Math.exp(0.4 * random.normal())
  return { drag: vary(usual.drag), ground: vary(usual.ground), downwash: vary(usual.downwash) }
}

function tested({ seed }: ArmRun, weights: number[]): ArmResult {
  const error = (effects: Effects): number =>
    100 *
    average(each(8).map((k) => fly(weights, effects, (2 * Math.PI * k) / 8, createRandom('test', seed, k))))
  const [score, plain] = [average(each(8).map((k) => error(drone(seed, k)))), error(none)]
  return { score, measures: { plain, thrown: score - plain } }
}
const full = gains.length + 2 * extra

const learned = (input: ArmRun, size: number, effects: Effects): ArmResult =>
  tested(input, optimise(input, size, effects, 0.3))

export default definePaper({
  id: 'gym-pybullet-drones',
  title:
    'Learning to Fly -- a Gym Environment with PyBullet Physics for Reinforcement Learning of Multi-agent Quadcopter Control',
  theme: 'control',
  claim:
    'A policy that is learned in a simulator with drag, ground effect and the downwash of another drone tracks a path better, on drones with other such effects, than one that is learned in rigid-body dynamics alone, than a PID controller tuned there, and than a PID controller with usual gains.',
  arms: {
    effects: (run) => learned(run, full, usual),
    plain: (run) => learned(run, full, none),
    'pid-plain': (run) => learned(run, gains.length, none),
    'usual-pid': (run) => tested(run, gains),
    // Not a rival: the claim is about the simulator.
    'pid-effects': (run) => learned(run, gains.length, usual),
  },
  metric:
    'mean error of place in cm around an ellipse close to the ground and under another drone, of 8 flights of each of 8 drones',
  higherIsBetter: false,
  pairing: 'seed',
  effect: { better: 'effects', than: ['plain', 'pid-plain', 'usual-pid'], atLeast: 0.5 },
  checks: [
    {
      about: 'without effects the plain policies track well',
      arm: ['plain', 'pid-plain'],
      of: 'plain',
      atMost: 3,
    },
    { about: 'usual gains fly', arm: 'usual-pid', of: 'score', atMost: 15 },
    { about: 'and are thrown off by the effects', arm: 'usual-pid', of: 'thrown', atLeast: 2 },
  ],
  control: { positive: { better: 'pid-effects', than: 'usual-pid', atLeast: 1 }, same: 'usual-pid' },
  budget: { generations: 60 },
  quick: { generations: 2 },
  simplifications: [
    'a planar rigid body with two rotors that lag by 0.05 s stands for Bullet and four rotors; one drone flies, the other hovers above',
    'policies are PID controllers, with a linear term in speeds, height and the place under the other drone for those that learn; an evolution strategy (60 generations of 16) stands for PPO',
    'each effect of each drone differs by a factor with a deviation of 40% from that of the simulator; that knowing of effects helps is close to following by construction, that wrong strengths do not undo it is not',
    'one spread of the search for all, not tuned; a PID controller tuned with the effects is shown, and may be better than the learned policy',
  ],
})
