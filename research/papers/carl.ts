import { bestArm, contextSampler, evaluatePolicy, finiteModel } from 'agoge/classic'
import { generateLake, startValue, valueIteration } from 'agoge/classic'
import type { Context, ContextSet, FiniteModel } from 'agoge/classic'
import { createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'

const size = 4
const cells = size * size
const exact = { gamma: 0.95, tolerance: 1e-4 }
const epsilon = 0.3
const stepSize = 0.03
const maxSteps = 100
const [hole, goal] = [2, 3]
const wind = { default: 0, low: -0.4, high: 0.4, extrapolate: [-0.7, 0.7] } as const
const physics = {
  windX: { ...wind, about: 'probability of a push to the right, or to the left if below 0' },
  windY: { ...wind, about: 'probability of a push down, or up if below 0' },
}
/** Left, down, right, up. */
const direction = (action: number) => [(action - 1) % 2, (2 - action) % 2] as const

function moved(cell: number, [dx, dy]: readonly [number, number]): number {
  const within = (place: number): number => Math.max(0, Math.min(size - 1, place))
  return within((cell % size) + dx) + size * within(Math.floor(cell / size) + dy)
}

/** A lake with holes in a steady wind. Reward 1 at the goal. */
function windyLake(tiles: Uint8Array, { windX = 0, windY = 0 }: Context<typeof physics>): FiniteModel {
  const chances = (strength: number) => [
    [0, 1 - Math.abs(strength)],
    [Math.sign(strength), Math.abs(strength)],
  ]
  const outcomes = (cell: number, action: number) =>
    chances(windX).flatMap(([x, byX]) =>
      chances(windY).map(([y, byY]) => {
        const state = moved(moved(cell, direction(action)), [x, y])
        const reward = Number(tiles[state] === goal)
        return { probability: byX * byY, state, reward, terminated: reward === 1 || tiles[state] === hole }
      }),
    )
  return finiteModel({ states: cells, actions: 4, start: 0, outcomes })
}

/** What the learner sees of a context, scaled so that the range of training is -1 to 1. */
type View = (context: Context<typeof physics>, episode: number) => readonly number[]
const visible: View = ({ windX = 0, windY = 0 }) => [windX / wind.high, windY / wind.high]
const hidden: View = () => []

/**
 * Q-learning over the contexts of training, a new one each episode. Q of a cell and an action is linear in what is seen of the context,
 * begins with 1, and its steps are normalised by the length of the features. Returns the greedy policy.
 */
function train(tiles: Uint8Array, seed: number, steps: number, view: View) {
  const random = createRandom('play', seed)
  const contexts = contextSampler(physics, { seed })
  const width = 1 + view({}, 0).length
  const weights = Float64Array.from({ length: cells * 4 * width }, (_, k) => Number(k % width === 0))
  const q = (cell: number, action: number, features: readonly number[]): number =>
    features.reduce((sum, value, k) => sum + weights[(cell * 4 + action) * width + k] * value, 0)
  const greedy = (cell: number, features: readonly number[]): number =>
    bestArm(4, (action) => q(cell, action, features))
  const blown = (push: number): number => (random.next() < Math.abs(push) ? Math.sign(push) : 0)
  for (let episode = 0, step = 0; step < steps; episode++) {
    const context = contexts(0, episode)
    const features = [1, ...view(context, episode)]
    const length = features.reduce((sum, value) => sum + value * value, 0)
    let [cell, ended] = [0, false]
    for (let age = 0; age < maxSteps && !ended && step < steps; age++, step++) {
      const explores = random.next() < epsilon
      const action = explores ? random.int(4) : greedy(cell, features)
      const push = [blown(context.windX ?? 0), blown(context.windY ?? 0)] as const
      const next = moved(moved(cell, direction(action)), push)
      const reward = Number(tiles[next] === goal)
      ended = reward === 1 || tiles[next] === hole
      const target = reward + (ended ? 0 : exact.gamma * q(next, greedy(next, features), features))
      const change = (stepSize * (target - q(cell, action, features))) / length
      features.forEach((value, k) => (weights[(cell * 4 + action) * width + k] += change * value))
      cell = next
    }
  }
  return (seen: readonly number[]) =>
    Float32Array.from({ length: cells }, (_, cell) => greedy(cell, [1, ...seen]))
}

/** Value of the start in contexts of a set, as a share of what the best policy of each context gets, mean over lakes. */
function zeroShot({ seed, budget }: ArmRun, view: View, steps = budget.steps): ArmResult {
  const found = Array.from({ length: budget.lakes }, (_, index) => {
    const lake = 1000 * seed + index
    const tiles = generateLake(size, 0.75, lake)
    const policy = train(tiles, lake, steps, view)
    const blind = policy(view({}, -1))
    const share = (set: ContextSet, differs: number[]): number => {
      const contexts = contextSampler(physics, { set, seed: lake })
      const values = Array.from({ length: budget.contexts }, (_, episode) => {
        const context = contexts(0, episode)
        const model = windyLake(tiles, context)
        const actions = policy(view(context, episode))
        differs.push(average(Array.from(actions, (action, cell) => Number(action !== blind[cell]))))
        const best = startValue(model, valueIteration(model, exact).values)
        return [startValue(model, evaluatePolicy(model, actions, exact)), best]
      })
      return average(values.map(([value]) => value)) / average(values.map(([, best]) => best))
    }
    const used: number[] = []
    return {
      inside: share('interpolation', used),
      outside: share('extrapolation', used),
      used: average(used),
    }
  })
  const mean = (of: 'inside' | 'outside' | 'used'): number => average(found.map((one) => one[of]))
  const measures = { inside: mean('inside'), outside: mean('outside'), used: mean('used') }
  return { score: (measures.inside + measures.outside) / 2, measures }
}

/** Sees the wind of another episode: as many inputs, which say nothing. */
function unrelated(seed: number): View {
  const contexts = contextSampler(physics, { seed })
  return (_, episode) => visible(contexts(1, episode), episode)
}

export default definePaper({
  id: 'carl',
  title: 'Contextualize Me: The Case for Context in Reinforcement Learning',
  theme: 'contextual',
  claim:
    'The same agent plays contexts that it was not trained on better where it sees the context than where the context is hidden.',
  arms: {
    visible: (run) => zeroShot(run, visible),
    hidden: (run) => zeroShot(run, hidden),
    unrelated: (run) => zeroShot(run, unrelated(run.seed)),
    'barely-trained': (run) => zeroShot(run, hidden, run.budget.barely),
  },
  metric:
    'discounted chance to cross a lake in unseen winds, exact, as a share of what the best policy of each wind gets, mean of winds inside and outside the range of training',
  pairing: 'seed',
  effect: { better: 'visible', than: ['hidden'], atLeast: 0.03 },
  checks: [
    { about: 'what is chosen depends on the wind', arm: 'visible', of: 'used', atLeast: 0.05 },
    { about: 'the agent has learned to cross', arm: 'hidden', of: 'inside', atLeast: 0.6 },
    { about: 'it leaves something to gain', arm: 'hidden', of: 'score', atMost: 0.95 },
  ],
  control: { positive: { better: 'hidden', than: 'barely-trained', atLeast: 0.1 }, same: 'hidden' },
  budget: { steps: 20_000, barely: 200, lakes: 4, contexts: 12 },
  quick: { steps: 500, barely: 100, lakes: 1, contexts: 2 },
  simplifications: [
    'lakes with holes in a steady wind, learned by a Q that is linear in the context for each cell and action, stand for a suite of control tasks and networks',
    'two features vary, and the agent sees both or none',
    'step sizes of 0.01, 0.03, 0.1 and 0.3 were compared for each arm on seeds 201 to 216: 0.03 was the best of all three',
  ],
})
