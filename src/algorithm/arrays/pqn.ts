import { requireSameStep, rowSize } from '../../environment/index.ts'
import { compileObjective, createParameters, createRAdam } from '../../nn/index.ts'
import type { Activation } from '../../nn/index.ts'
import { overObservations, valueNetwork } from '../../policy/index.ts'
import type { Body } from '../../policy/index.ts'
import { createRandom } from '../../random/index.ts'
import { mean, reshape, square, sub } from '../../tensor/index.ts'
import { gae } from '../advantages/index.ts'
import type { ArrayAlgorithm, UpdateMetrics } from './agent.ts'
import { checkMinibatches, checkSettings } from './check-settings.ts'
import { keptArray, keptParts, keptValue } from './kept.ts'
import { discreteActions } from './discrete-actions.ts'
import { epsilonAt, greedy, maskOrNone, randomAction } from './epsilon-greedy.ts'
import type { EpsilonSchedule } from './epsilon-greedy.ts'
import { ofAction } from './of-action.ts'
import { overWindow } from './over-window.ts'

export interface PqnConfig extends EpsilonSchedule {
  /** Steps of each slot between updates. */
  rolloutSteps: number
  epochs: number
  minibatches: number
  learningRate: number
  /** The learning rate falls to 0 in a straight line. */
  anneal: boolean
  gamma: number
  lambda: number
  maxGradientNorm: number | null
  hidden: readonly number[]
  activation: Activation
  /** Default `mlp`. */
  body?: Body
}

/** Settings of published runs, by where they come from. `slots` is how many environments they use. */
export const pqnPresets = {
  /** CleanRL `pqn.py`. */
  cleanrl: {
    slots: 4,
    rolloutSteps: 128,
    epochs: 4,
    minibatches: 4,
    learningRate: 2.5e-4,
    anneal: true,
    gamma: 0.99,
    lambda: 0.65,
    maxGradientNorm: 10,
    epsilonStart: 1,
    epsilonEnd: 0.05,
    explorationFraction: 0.5,
    hidden: [120, 84],
    activation: 'relu',
  },
} as const satisfies Record<string, PqnConfig & { slots: number }>

/**
 * Parallelised Q-network (Gallici et al. 2024, arXiv:2407.04811): Q-learning without replay or target network, on
 * rollouts of many slots, made stable by layer normalisation; targets are Q(lambda) returns, bootstrapped where an
 * episode was only truncated. Rectified Adam, as the authors and CleanRL have it.
 */
export const pqn = (config: PqnConfig): ArrayAlgorithm =>
  overWindow(checkSettings(config).body, async (environment, { seed, totalSteps, threads = 1 }) => {
    const { world, observations } = environment
    requireSameStep(environment, 'pqn')
    const { n: actions, start } = discreteActions(world, 'pqn')
    const slots = environment.slots.count
    const width = rowSize(world.observation)
    const steps = config.rolloutSteps
    const rows = slots * steps
    checkMinibatches(config.minibatches, rows)
    const { hidden, activation } = config
    const network = overObservations(
      world.observation,
      (inputs) =>
        valueNetwork({ inputs, hidden, activation, actions, layerNorm: true, initialise: 'orthogonal' }),
      config,
    )
    const random = createRandom('pqn', seed)
    const parameters = createParameters(network.specs, random.split('parameters'))
    const drawing = random.split('draws')
    const optimiser = createRAdam(parameters.data.length, {
      maxGradientNorm: config.maxGradientNorm ?? Infinity,
    })
    const objective = await compileObjective({
      name: 'pqn',
      threads,
      parameters: parameters.shapes,
      inputs: {
        observations: { shape: ['B', width] },
        actions: { shape: ['B', 1] },
        returns: { shape: ['B'] },
      },
      trace(weights, inputs) {
        const all = network.trace(weights, inputs['observations'])
        const taken = ofAction(all, inputs['actions'], { actions, atoms: 1, start })
        return { loss: mean(square(sub(reshape(taken, ['B']), inputs['returns']))) }
      },
    })

    /** Row `slot * steps + t` of each. */
    const kept = {
      observations: new Float32Array(rows * width),
      actions: new Float32Array(rows),
      values: new Float32Array(rows),
      nextValues: new Float32Array(rows),
      rewards: new Float32Array(rows),
      terminated: new Uint8Array(rows),
      truncated: new Uint8Array(rows),
      order: Int32Array.from({ length: rows }, (_, i) => i),
    }
    const returns = new Float32Array(rows)
    const size = Math.ceil(rows / config.minibatches)
    const batch = {
      observations: new Float32Array(size * width),
      actions: new Float32Array(size),
      returns: new Float32Array(size),
    }
    const q = new Float32Array(slots * actions)
    let t = 0
    let seen = 0
    /** Values of what follows step t - 1 are known at step t, before its update. */
    const best = (from: Float32Array, row: number, mask: Uint8Array | undefined): number =>
      from[row * actions + greedy(from, row, actions, mask)]

    function makeReturns(): void {
      for (let slot = 0; slot < slots; slot++) {
        const part = <A extends Float32Array | Uint8Array>(array: A): A =>
          array.subarray(slot * steps, (slot + 1) * steps) as A
        const { rewards, values, nextValues, terminated, truncated } = kept
        const found = gae(
          {
            rewards: part(rewards),
            values: part(values),
            nextValues: part(nextValues),
            terminated: part(terminated),
            truncated: part(truncated),
          },
          config,
        )
        // With the greatest values as those of the states, GAE plus value is the Q(lambda) return.
        returns.set(found.returns, slot * steps)
      }
    }

    function fill(from: number, count: number): void {
      for (let i = 0; i < count; i++) {
        const row = kept.order[from + i]
        for (let k = 0; k < width; k++) batch.observations[i * width + k] = kept.observations[row * width + k]
        batch.actions[i] = kept.actions[row]
        batch.returns[i] = returns[row]
      }
    }

    async function update(): Promise<UpdateMetrics> {
      makeReturns()
      const learningRate = config.learningRate * (config.anneal ? 1 - (seen - rows) / totalSteps : 1)
      let loss = 0
      let gradientNorm = 0
      let count = 0
      for (let epoch = 0; epoch < config.epochs; epoch++) {
        for (let i = rows - 1; i > 0; i--) {
          const j = drawing.int(i + 1)
          const held = kept.order[i]
          kept.order[i] = kept.order[j]
          kept.order[j] = held
        }
        for (let from = 0; from < rows; from += size, count++) {
          const length = Math.min(size, rows - from)
          fill(from, length)
          const found = await objective.evaluate(parameters, {
            observations: { data: batch.observations.subarray(0, length * width), shape: [length, width] },
            actions: { data: batch.actions.subarray(0, length), shape: [length, 1] },
            returns: { data: batch.returns.subarray(0, length), shape: [length] },
          })
          loss += found.loss
          gradientNorm += optimiser.step(parameters.data, objective.gradient.data, learningRate)
        }
      }
      t = 0
      return {
        loss: loss / count,
        gradientNorm: gradientNorm / count,
        epsilon: epsilonAt(config, seen, totalSteps),
      }
    }

    return {
      act() {
        const epsilon = epsilonAt(config, seen, totalSteps)
        const mask = maskOrNone(environment.actionMask)
        network.forward(parameters, observations, slots, q)
        for (let slot = 0; slot < slots; slot++) {
          const row = slot * steps + t
          const explores = drawing.next() < epsilon
          const greedyAction = greedy(q, slot, actions, mask)
          const action = start + (explores ? randomAction(drawing, slot, actions, mask) : greedyAction)
          environment.actions[slot] = action
          kept.actions[row] = action
          kept.values[row] = q[slot * actions + greedyAction]
          // Where an episode goes on, what this step sees is what the last one led to.
          if (t > 0 && kept.terminated[row - 1] + kept.truncated[row - 1] === 0)
            kept.nextValues[row - 1] = kept.values[row]
          for (let k = 0; k < width; k++) kept.observations[row * width + k] = observations[slot * width + k]
        }
      },
      learn() {
        seen += slots
        const { rewards, terminated, truncated, finalObservations } = environment
        let cut = false
        for (let slot = 0; slot < slots; slot++) {
          const row = slot * steps + t
          kept.rewards[row] = rewards[slot]
          kept.terminated[row] = terminated[slot]
          kept.truncated[row] = truncated[slot]
          cut ||= truncated[slot] === 1 && terminated[slot] === 0
        }
        const full = ++t === steps
        if (cut) bootstrap(finalObservations, environment.finalActionMask, 1)
        if (!full) return undefined
        bootstrap(observations, environment.actionMask, 0)
        return update()
      },
      decide(given, count, to, mask) {
        const values = new Float32Array(count * actions)
        network.forward(parameters, given, count, values)
        for (let r = 0; r < count; r++) to[r] = start + greedy(values, r, actions, maskOrNone(mask))
      },
      values(given, count, to, mask) {
        const values = new Float32Array(count * actions)
        network.forward(parameters, given, count, values)
        for (let r = 0; r < count; r++) to[r] = best(values, r, maskOrNone(mask))
      },
      ...keptParts({
        parameters: keptArray(parameters.data),
        optimiser,
        random: drawing,
        kept: keptParts(
          Object.fromEntries(Object.entries(kept).map(([name, array]) => [name, keptArray(array)])),
        ),
        t: keptValue(
          () => t,
          (value) => (t = value),
        ),
        seen: keptValue(
          () => seen,
          (value) => (seen = value),
        ),
      }),
      dispose: () => objective.dispose(),
    }

    /** Values after the last step, in the slots whose episode was then cut off (1) or went on (0). */
    function bootstrap(from: Float32Array, masks: Uint8Array, truncated: 0 | 1): void {
      network.forward(parameters, from, slots, q)
      const mask = maskOrNone(masks)
      for (let slot = 0; slot < slots; slot++) {
        const row = slot * steps + t - 1
        if (kept.terminated[row] === 0 && kept.truncated[row] === truncated)
          kept.nextValues[row] = best(q, slot, mask)
      }
    }
  })
