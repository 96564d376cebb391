import {
  type AdamState,
  compileObjective,
  countParameters,
  createAdam,
  parameterFeeds,
  type ParameterSet,
  zeroParameters,
} from '../../../engine/nn/index.ts'
import {
  add,
  compileForSize,
  gradients,
  type InputSpec,
  mean,
  mul,
  square,
  sub,
  sum,
  type Tensor,
} from '../../../engine/tensor/index.ts'
import { box } from '../../environment/index.ts'
import {
  fanInUniform,
  mlpActionValues,
  mlpNetwork,
  overObservations,
  squashedGaussian,
} from '../../policy/index.ts'
import { stateOfArray, stateOfParts } from '../agent.ts'
import { bufferPart, type BufferPart, type SacBuffer, type SacSizes } from './sac-buffer.ts'

/** The actor's network: means and logarithms of deviations. */
export const sacActor = ({
  observation,
  action,
  config: { hidden, activation, encoder },
}: Omit<SacSizes, 'actor'>) =>
  overObservations(
    observation,
    (inputs) =>
      fanInUniform(mlpNetwork({ inputs, hidden, activation, outputs: 2 * action, prefix: 'actor.' })),
    { encoder, prefix: 'actor.' },
  )

export const sacCritics = (
  { observation, action, config: { hidden, activation, encoder } }: Omit<SacSizes, 'actor'>,
  count = 2,
) => mlpActionValues({ observation, action, count }, { hidden, activation, encoder })

/** What one of `of` threads does: its part of the rows for the actor, and of the critics, all rows of each. */
export interface SacShare {
  rank: 0 | 1
  of: 1 | 2
  /** Waits until the other thread has come as far. */
  barrier: () => void
  /** Threads inside one operator. */
  threads: number
}

export interface SacLearnerState {
  actor: Float32Array
  critics: Float32Array
  targets: Float32Array
  actorAdam: AdamState
  criticAdam: AdamState
}

export interface SacLearner {
  /** The same on every thread. */
  readonly actor: ParameterSet
  /** Those of this thread. */
  readonly critics: ParameterSet
  /**
   * One gradient step from what is on the board, the actor updated `times` times. `updated` may read of the board what came of
   * each, and write the next temperature.
   */
  step(times: number, updated?: (time: number) => void): Promise<void>
  state(): SacLearnerState
  restore(state: SacLearnerState): void
  dispose(): Promise<void>
}

const specsOf = (prefix: string, { shapes }: Pick<ParameterSet, 'shapes'>): Record<string, InputSpec> =>
  Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [`${prefix}${name}`, { shape }]))

/**
 * The gradient step of soft actor-critic for one of one or two threads. With two, each has a critic with its target, its
 * gradient and its optimiser, and half of the rows for the actor, of which both have a copy: what crosses are numbers of rows, and
 * the actor's gradient.
 */
export async function createSacLearner(
  sizes: SacSizes,
  buffer: SacBuffer,
  { rank, of, barrier, threads }: SacShare,
): Promise<SacLearner> {
  const { config, width, action: k } = sizes
  const rows = config.batchSize
  const owned = of === 2 ? [rank] : [0, 1]
  const from = of === 2 && rank === 1 ? rows >> 1 : 0
  const to = of === 2 && rank === 0 ? rows >> 1 : rows
  const count = to - from
  const distribution = squashedGaussian(box([k], -1, 1))
  const actorNetwork = sacActor(sizes)
  const criticNetworks = sacCritics(sizes, owned.length)
  const shapes = (specs: typeof actorNetwork.specs): ParameterSet['shapes'] =>
    Object.fromEntries(Object.entries(specs).map(([name, { shape }]) => [name, shape]))
  const actorAdam = createAdam(countParameters(actorNetwork.specs))
  const criticAdam = createAdam(countParameters(criticNetworks.specs))
  const actor = zeroParameters(shapes(actorNetwork.specs), actorAdam.own.parameters)
  const critics = zeroParameters(shapes(criticNetworks.specs), criticAdam.own.parameters)
  const targets = zeroParameters(critics.shapes, criticAdam.own.target)

  /** Rows `first` to `last` of a part of the board, with so many columns where it has any. */
  const part = (name: keyof SacBuffer, [first, last]: readonly number[], columns?: number): BufferPart =>
    bufferPart(buffer[name].subarray(first * (columns ?? 1), last * (columns ?? 1)), [
      last - first,
      ...(columns === undefined ? [] : [columns]),
    ])
  const all = [0, rows]
  const whole = {
    observations: part('observations', all, width),
    nextObservations: part('nextObservations', all, width),
    actions: part('actions', all, k),
    nextActions: part('nextActions', all, k),
    played: part('played', all, k),
  }
  const mine = [from, to]
  const own = {
    observations: part('observations', mine, width),
    nextObservations: part('nextObservations', mine, width),
    noise: Array.from({ length: 1 + config.actorEvery }, (_, time) =>
      part('noise', [time * rows + from, time * rows + to], k),
    ),
    nextActions: part('nextActions', mine, k),
    nextLogprobs: part('nextLogprobs', mine),
    played: part('played', mine, k),
    logprobs: part('logprobs', mine),
  }
  const ofCritic = owned
    .map((i) => [i * rows, (i + 1) * rows])
    .map((critic) => ({
      nextValues: part('nextValues', critic),
      values: part('values', critic),
      derivatives: part('actionGradients', critic, k),
    }))
  const gradient = buffer.gradients.subarray(rank * sizes.actor, (rank + 1) * sizes.actor)
  const target = { data: new Float32Array(rows), shape: [rows] }
  const push = { data: new Float32Array(count * k), shape: [count, k] }
  const temperature = { data: new Float32Array(1), shape: [1] }
  const found = { data: new Float32Array(count * 2 * k), shape: [count, 2 * k] }
  const derivatives = { data: new Float32Array(count * 2 * k), shape: [count, 2 * k] }

  // Sizes are numbers, so that nothing is computed from them; and what is done to few numbers a row is a program of its own, for
  // a kernel of WebAssembly does at once what are dozens of operators of the runtime.
  const observations = { shape: [rows, width] }
  const actions = { shape: [rows, k] }
  const seen = { shape: [count, width] }
  const drawn = { shape: [count, k] }
  const parameters = { shape: [count, 2 * k] }
  const acting = await compileForSize(
    { seen, ...specsOf('', actor) },
    (given) => ({ parameters: actorNetwork.trace(given, given['seen']) }),
    { name: 'sac policy', threads },
  )
  const drawing = await compileForSize({ parameters, noise: drawn }, (given) => ({
    ...distribution.sample(given['parameters'], given['noise']),
  }))
  const pulling = await compileForSize(
    { parameters, noise: drawn, push: drawn, temperature: { shape: [1] } },
    (given) => {
      const found = distribution.sample(given['parameters'], given['noise'])
      const entropy = mul(sum(mul(given['temperature'], found.logprobs)), 1 / rows)
      const loss = add(entropy, sum(mul(given['push'], found.actions)))
      return { derivatives: gradients(loss, [given['parameters']])[0] }
    },
  )
  const named = (prefix: string, tensors: readonly Tensor[]): Record<string, Tensor> =>
    Object.fromEntries(tensors.map((tensor, i) => [`${prefix}${i}`, tensor]))
  const following = await compileForSize(
    { observations, actions, ...specsOf('', targets) },
    (given) => named('value', criticNetworks.trace(given, given['observations'], given['actions'])),
    { name: 'sac target critics', threads },
  )
  const judging = await compileForSize(
    { observations, actions, ...specsOf('', critics) },
    (given) => {
      const values = criticNetworks.trace(given, given['observations'], given['actions'])
      const derivatives = values.map((value) => gradients(sum(value), [given['actions']])[0])
      return { ...named('value', values), ...named('derivative', derivatives) }
    },
    { name: 'sac critics of the policy', threads },
  )
  const criticObjective = await compileObjective({
    name: 'sac critics',
    gradient: criticAdam.own.gradient,
    threads,
    parameters: critics.shapes,
    inputs: { observations, actions, target: { shape: [rows] } },
    trace(weights, given) {
      const estimates = criticNetworks.trace(weights, given['observations'], given['actions'])
      const losses = estimates.map((q) => mul(mean(square(sub(q, given['target']))), 0.5))
      return {
        loss: losses.reduce((a, b) => add(a, b)),
        outputs: {
          ...named('loss', losses),
          ...named(
            'estimate',
            estimates.map((q) => mean(q)),
          ),
        },
      }
    },
  })
  const actorObjective = await compileObjective({
    name: 'sac actor',
    ...(of === 1 ? { gradient: actorAdam.own.gradient } : {}),
    threads,
    parameters: actor.shapes,
    inputs: { seen, derivatives: parameters },
    // The loss enters by its slope, of which the gradient is the same.
    trace: (weights, given) => ({
      loss: sum(mul(given['derivatives'], actorNetwork.trace(weights, given['seen']))),
    }),
  })
  const feeds = {
    actor: parameterFeeds(actor),
    critics: parameterFeeds(critics),
    targets: parameterFeeds(targets),
  }

  /** Actions and log-probabilities of the policy for this thread's rows. */
  async function play(
    from: BufferPart,
    noise: BufferPart,
    [played, logprobs]: readonly [BufferPart, BufferPart],
  ): Promise<void> {
    from.read()
    noise.read()
    await acting.run({ seen: from.tensor, ...feeds.actor }, { parameters: found })
    await drawing.run(
      { parameters: found, noise: noise.tensor },
      { actions: played.tensor, logprobs: logprobs.tensor },
    )
    played.write()
    logprobs.write()
  }

  async function learnCritics(): Promise<void> {
    await play(own.nextObservations, own.noise[0], [own.nextActions, own.nextLogprobs])
    barrier()
    whole.nextObservations.read()
    whole.nextActions.read()
    await following.run(
      {
        observations: whole.nextObservations.tensor,
        actions: whole.nextActions.tensor,
        ...feeds.targets,
      },
      Object.fromEntries(ofCritic.map(({ nextValues }, i) => [`value${i}`, nextValues.tensor])),
    )
    for (const { nextValues } of ofCritic) nextValues.write()
    barrier()
    const { nextValues, nextLogprobs, rewards, discounts } = buffer
    const [alpha] = buffer.temperatures
    for (let r = 0; r < rows; r++) {
      const soft = Math.min(nextValues[r], nextValues[rows + r]) - alpha * nextLogprobs[r]
      target.data[r] = rewards[r] + discounts[r] * soft
    }
    whole.observations.read()
    whole.actions.read()
    const { outputs } = await criticObjective.evaluate(critics, {
      observations: whole.observations.tensor,
      actions: whole.actions.tensor,
      target,
    })
    owned.forEach((critic, i) => {
      buffer.losses[critic] = outputs[`loss${i}`].data[0]
      buffer.estimates[critic] = outputs[`estimate${i}`].data[0]
    })
    criticAdam.step(critics.data, criticObjective.gradient.data, config.criticLearningRate)
    criticAdam.follow(config.tau)
  }

  async function learnActor(time: number, updated: () => void): Promise<void> {
    await play(own.observations, own.noise[1 + time], [own.played, own.logprobs])
    barrier()
    whole.played.read()
    await judging.run(
      { observations: whole.observations.tensor, actions: whole.played.tensor, ...feeds.critics },
      Object.fromEntries(
        ofCritic.flatMap(({ values, derivatives }, i) => [
          [`value${i}`, values.tensor],
          [`derivative${i}`, derivatives.tensor],
        ]),
      ),
    )
    for (const { values, derivatives } of ofCritic) {
      values.write()
      derivatives.write()
    }
    barrier()
    const { values, actionGradients: ofValues } = buffer
    for (let r = from; r < to; r++) {
      const least = values[r] <= values[rows + r] ? r : rows + r
      for (let i = 0; i < k; i++) push.data[(r - from) * k + i] = -ofValues[least * k + i] / rows
    }
    temperature.data[0] = buffer.temperatures[time]
    await pulling.run(
      { parameters: found, noise: own.noise[1 + time].tensor, push, temperature },
      { derivatives },
    )
    await actorObjective.evaluate(actor, { seen: own.observations.tensor, derivatives })
    updated()
    if (of === 2) {
      gradient.set(actorObjective.gradient.data)
      barrier()
      const sum = actorAdam.own.gradient
      const [first, second] = [buffer.gradients, buffer.gradients.subarray(sizes.actor)]
      for (let i = 0; i < sum.length; i++) sum[i] = first[i] + second[i]
    }
    actorAdam.step(actor.data, actorAdam.own.gradient, config.actorLearningRate)
  }

  return {
    actor,
    critics,
    async step(times, updated = () => {}) {
      await learnCritics()
      for (let time = 0; time < times; time++) await learnActor(time, () => updated(time))
      barrier()
    },
    ...(stateOfParts({
      actor: stateOfArray(actor.data),
      critics: stateOfArray(critics.data),
      targets: stateOfArray(targets.data),
      actorAdam,
      criticAdam,
    }) as Pick<SacLearner, 'state' | 'restore'>),
    async dispose() {
      await Promise.all([acting.release(), following.release(), judging.release()])
      await criticObjective.dispose()
      await actorObjective.dispose()
    },
  }
}
