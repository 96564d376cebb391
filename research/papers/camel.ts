import { createReplay } from 'agoge/classic'
import { createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import { episode, gamma, rows, smallTd3, swingUp, torque } from '../testbeds/swing-up/swing-up.ts'
import type { Bounds } from '../testbeds/swing-up/swing-up.ts'

/** Torque as a share of the largest, by the cosine and sine of the angle from upright, and the speed. */
type Expert = (cos: number, sin: number, speed: number) => number
const clip = (value: number, low = -1, high = 1): number => Math.max(low, Math.min(high, value))
/** Swings up by the energy that is missing, and does not hold. */
const crude: Expert = (cos, _, speed) => clip(-speed * (speed ** 2 / 6 + 5 * cos - 5))
/** Pushes towards the top everywhere, for which the motor is too weak. */
const wrong: Expert = (_, sin, speed) => clip(-10 * sin - 2 * speed)
const advice = (expert: Expert, from: Float32Array, i: number): number =>
  expert(from[3 * i], from[3 * i + 1], from[3 * i + 2])

interface Settings {
  rate: number
  /** Standard deviation of the noise of actions. */
  noise: number
  expert?: Expert
  /** Half of the interval around the expert, in shares of the largest torque. */
  width?: number
  /** Probability of the mask, or of an action of the expert, at a share of the steps. */
  epsilon?: (progress: number) => number
  /** The expert acts in place of a mask, and updates know nothing of it. */
  acts?: boolean
}

/** Steps with random actions; mean reward that counts as learned: the best policies reach -1.4, the expert -4.2. */
const [warmUp, threshold] = [200, -2]

/** Mean reward of a policy over 16 episodes, the same for all. */
function reward(policy: (observations: Float32Array, actions: Float32Array) => void): number {
  const [tests, actions] = [swingUp(7, 16), new Float32Array(16)]
  for (let step = 0; step < episode; step++) {
    policy(tests.observations, actions)
    tests.actions.set(actions.map((action) => torque * action))
    tests.step()
  }
  return average(tests.returns) / episode
}

/** TD3 on a pendulum, within an interval around an expert with a probability: steps until the greedy policy does well. */
async function learn({ seed, budget }: ArmRun, settings: Settings): Promise<ArmResult> {
  const { rate, noise, expert = crude, width = 1, epsilon = () => 0, acts = false } = settings
  const agent = await smallTd3(seed, rate)
  const random = createRandom('masks', seed)
  const environment = swingUp(seed, 1)
  const replay = createReplay(environment, { capacity: budget.steps, gamma })
  const batch = replay.createBatch(rows)
  const inside = (action: number, centre: number): number =>
    clip(action, clip(centre - width), clip(centre + width))
  /** As the policy acts: some rows are masked. */
  function bounds(from: Float32Array, chance: number): Bounds {
    const found = { low: new Float32Array(rows).fill(-1), high: new Float32Array(rows).fill(1) }
    if (chance === 0) return found
    for (let i = 0; i < rows; i++) {
      if (random.next() >= chance) continue
      const centre = advice(expert, from, i)
      found.low[i] = clip(centre - width)
      found.high[i] = clip(centre + width)
    }
    return found
  }
  const greedy = (masked: boolean): number =>
    reward((observations, actions) => {
      agent.act(observations, actions.length, actions)
      if (masked) actions.forEach((v, i) => (actions[i] = inside(v, advice(expert, observations, i))))
    })
  // A mask that fades may be left out or not: what is better counts.
  const masks = acts || epsilon(0) === 0 ? [false] : epsilon(1) === 1 ? [true] : [true, false]
  const own = new Float32Array(1)
  const count = { steps: 0, guided: 0, changed: 0 }
  let reached = false
  for (let step = 0; step < budget.steps && !reached; step++) {
    const chance = epsilon(step / budget.steps)
    agent.act(environment.observations, 1, own)
    const drawn = step < warmUp ? 2 * random.next() - 1 : clip(own[0] + noise * random.normal())
    const centre = advice(expert, environment.observations, 0)
    const guided = random.next() < chance
    const action = !guided ? drawn : acts ? clip(centre + noise * random.normal()) : inside(drawn, centre)
    count.guided += Number(guided)
    count.changed += Number(action !== drawn)
    environment.actions[0] = torque * action
    replay.acted()
    environment.step()
    replay.stepped()
    if (step >= warmUp && rate > 0) {
      replay.sample(batch, random)
      const share = acts ? 0 : chance
      await agent.update(batch, bounds(batch.observations, share), bounds(batch.nextObservations, share))
    }
    count.steps++
    if (count.steps % 100 === 0) reached = masks.some((masked) => greedy(masked) >= threshold)
  }
  const { steps, guided, changed } = count
  return {
    score: steps,
    reached,
    measures: {
      guided: guided / steps,
      changed: changed / steps,
      epsilon: epsilon(steps / budget.steps),
      expert: reward((observations, actions) =>
        actions.forEach((_, i) => (actions[i] = advice(expert, observations, i))),
      ),
    },
  }
}
const fade = (share: number) => (progress: number) => Math.max(0, 1 - progress / share)
/** Of eleven for each arm on seeds 201 to 210: three learning rates, and three widths, shares of the steps, or deviations of the noise. */
const tuned = {
  camel: { rate: 3e-3, noise: 0.4, width: 0.8, epsilon: fade(0.6) },
  plain: { rate: 3e-3, noise: 1.6 },
  fixed: { rate: 3e-3, noise: 0.4, width: 0.8, epsilon: () => 1 },
  acts: { rate: 1e-2, noise: 0.4, epsilon: fade(0.15), acts: true },
}

export default definePaper({
  id: 'camel',
  title: 'CAMEL: Continuous Action Masking Enabled by Large Language Models for Reinforcement Learning',
  theme: 'control',
  claim:
    'TD3 whose actions are masked to an interval around those of a crude expert, with a probability that fades to 0, learns in fewer steps than without a mask, than with a mask that stays, and than if the expert itself acts with such a probability.',
  arms: {
    camel: (run) => learn(run, tuned.camel),
    plain: (run) => learn(run, tuned.plain),
    'fixed-mask': (run) => learn(run, tuned.fixed),
    'expert-acts': (run) => learn(run, tuned.acts),
    // Not rivals: the same around an expert that pushes the wrong way, and random actions without an update.
    'wrong-expert': (run) => learn(run, { ...tuned.camel, expert: wrong }),
    untrained: (run) => learn(run, { ...tuned.plain, rate: 0 }),
  },
  metric:
    'steps until the greedy policy has a mean reward of -2 a step in swinging up a pendulum, of at most 4000',
  higherIsBetter: false,
  pairing: 'seed',
  effect: {
    better: 'camel',
    than: ['plain', 'fixed-mask', 'expert-acts'],
    atLeast: 1.25,
    scale: 'ratio',
  },
  checks: [
    {
      about: 'masks change actions',
      arm: ['camel', 'fixed-mask', 'wrong-expert'],
      of: 'changed',
      atLeast: 0.1,
    },
    { about: 'the mask fades while it learns', arm: 'camel', of: 'epsilon', atMost: 0.85 },
    { about: 'no mask and no expert', arm: 'plain', of: 'guided', atMost: 0 },
    { about: 'the crude expert does not do it', arm: 'camel', of: 'expert', atMost: -3 },
    { about: 'the wrong one hardly moves', arm: 'wrong-expert', of: 'expert', atMost: -6 },
  ],
  control: { positive: { better: 'plain', than: 'untrained', atLeast: 1.5 }, same: 'fixed-mask' },
  budget: { steps: 4000 },
  quick: { steps: 400 },
  simplifications: [
    'a pendulum that hangs and has to be swung up, and experts of one line, stand for walking robots and programs of a language model',
    'a mask clips; the critics take the mask into account with its present probability, and the gradient of the actor passes it',
    'the greedy policy is tested with the mask that stays, and both with and without the one that fades, of which the better counts',
    'the time to learn is compared, not the reward in the end; the interval is a fixed part of the range around the expert and its width was tuned for both masks, which chose a wide one that does not rule out the best actions',
    'that the expert acts in place of a mask is a rival that the paper does not have',
    'tuned were rates of 0.001, 0.003 and 0.01 with three widths (camel 0.2, 0.4, 0.8; fixed 0.4, 0.8, 1.2), shares of the steps (0.15, 0.3, 0.6) or deviations of the noise (0.2, 0.4, 0.8), then two values of another setting; camel has the widest interval and the slowest fading of its grid, which is closest to the fixed mask, expert-acts the highest rate and the fastest fading, and plain was also tried with larger noise (1.6, chosen, and 3.2)',
  ],
})
