import { createVectorEnvironment, mlpNetwork, pendulum, startAt } from 'agoge/classic'
import type { ReplayBatch, VectorEnvironment } from 'agoge/classic'
import { add, concat, maximum, mean, minimum, mul, neg, square, stopGradient, sub, tanh } from 'agoge/engine'
import { compileObjective, createAdam, createParameters, createRandom, moveTowards } from 'agoge/engine'
import type { Tensor } from 'agoge/engine'

/** Largest torque in N m, steps of an episode, transitions of a batch, discount. */
export const [torque, episode, rows, gamma] = [2, 100, 64, 0.97]

/** Pendulums that hang, almost at rest, with steps of 0.1 s. */
export function swingUp(seed: number, numEnvs: number): VectorEnvironment {
  const contextFor = () => ({ timeStep: 0.1 })
  const plain = createVectorEnvironment(pendulum, { numEnvs, seed, maxSteps: episode, contextFor })
  const hanging = startAt(plain, ({ state }, i) => (state[2 * i] = Math.PI + 0.1 * state[2 * i]))
  hanging.reset()
  return hanging
}

const layers = { hidden: [32, 32], outputs: 1, activation: 'relu' } as const
const actor = mlpNetwork({ ...layers, inputs: 3, outputGain: 0.1 })
const judges = ['first/', 'second/'].map((prefix) => mlpNetwork({ ...layers, inputs: 4, prefix }))
const critics = { ...judges[0].specs, ...judges[1].specs }
const shapesOf = (specs: typeof critics) =>
  Object.fromEntries(Object.entries(specs).map(([name, { shape }]) => [name, shape]))
const column = { shape: ['B', 1] } as const
const seen = { observations: { shape: ['B', 3] }, low: column, high: column } as const

const judged = (weights: Record<string, Tensor>, observations: Tensor, action: Tensor): Tensor[] =>
  judges.map((network) => network.trace(weights, concat([observations, action], 1)))
const within = (action: Tensor, { low, high }: Record<string, Tensor>): Tensor =>
  minimum(maximum(action, low), high)

const compilePrograms = () =>
  Promise.all([
    compileObjective({
      parameters: shapesOf(critics),
      fixed: { ...shapesOf(critics), ...shapesOf(actor.specs) },
      inputs: { ...seen, actions: column, rewards: column, noise: column, next: seen.observations },
      trace(weights, given, fixed) {
        const action = within(add(tanh(actor.trace(fixed, given.next)), given.noise), given)
        const values = judged(fixed, given.next, action)
        const target = add(given.rewards, mul(minimum(values[0], values[1]), gamma))
        const errors = judged(weights, given.observations, given.actions).map((q) => square(sub(q, target)))
        return { loss: mean(add(errors[0], errors[1])) }
      },
      threads: 1,
    }),
    compileObjective({
      parameters: shapesOf(actor.specs),
      fixed: shapesOf(critics),
      inputs: seen,
      trace(weights, given, fixed) {
        const action = tanh(actor.trace(weights, given.observations))
        // The gradient passes the bounds: the policy learns beyond which of them there is more to gain.
        const inside = add(action, stopGradient(sub(within(action, given), action)))
        return { loss: neg(mean(judged(fixed, given.observations, inside)[0])) }
      },
      threads: 1,
    }),
  ])
let programs: ReturnType<typeof compilePrograms> | undefined

/** Least and largest action of each row, as shares of the largest torque. */
export interface Bounds {
  low: Float32Array
  high: Float32Array
}
/** What a batch of the replay has of each transition. */
type Transitions = Pick<ReplayBatch, 'observations' | 'actions' | 'returns' | 'nextObservations'>
const tensor = (data: Float32Array, size = 1) => ({ data, shape: [data.length / size, size] })

/** TD3 (Fujimoto et al. 2018) with small networks, whose actions can be bounded by state. Episodes are never terminated. */
export async function smallTd3(seed: number, rate: number) {
  const [critic, policy] = await (programs ??= compilePrograms())
  const random = createRandom('td3', seed)
  const weights = [critics, actor.specs].map((specs) => createParameters(specs, random))
  const targets = [critics, actor.specs].map((specs) => createParameters(specs, random))
  weights.forEach(({ data }, k) => targets[k].data.set(data))
  const adams = weights.map(({ data }) => createAdam(data.length))
  const fixed = {
    shapes: { ...targets[0].shapes, ...targets[1].shapes },
    views: { ...targets[0].views, ...targets[1].views },
  }
  const clipped = () => Math.max(-0.5, Math.min(0.5, 0.2 * random.normal()))
  let steps = 0
  return {
    /** Greedy actions, as shares of the largest torque. */
    act(observations: Float32Array, count: number, actions: Float32Array): void {
      actor.forward(weights[1], observations, count, actions)
      for (let i = 0; i < count; i++) actions[i] = Math.tanh(actions[i])
    },
    /** A gradient step of the critics, every second time one of the actor, within bounds in the states and in the next states. */
    async update(batch: Transitions, inStates: Bounds, inNext: Bounds): Promise<void> {
      const observations = tensor(batch.observations, 3)
      const transitions = {
        observations,
        actions: tensor(batch.actions.map((value) => value / torque)),
        rewards: tensor(batch.returns.map((value) => value / 10)),
        noise: tensor(batch.actions.map(clipped)),
        next: tensor(batch.nextObservations, 3),
      }
      const nextBounds = { low: tensor(inNext.low), high: tensor(inNext.high) }
      await critic.evaluate(weights[0], { ...transitions, ...nextBounds }, fixed)
      adams[0].step(weights[0].data, critic.gradient.data, rate)
      if (steps++ % 2 === 0) return
      const bounds = { low: tensor(inStates.low), high: tensor(inStates.high) }
      await policy.evaluate(weights[1], { observations, ...bounds }, weights[0])
      adams[1].step(weights[1].data, policy.gradient.data, rate)
      weights.forEach((set, k) => moveTowards(targets[k], set, 0.02))
    },
  }
}
