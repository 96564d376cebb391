import { type AdamState, parameterFeeds, type ParameterSet } from '../../../engine/nn/index.ts'
import type { HostTensor } from '../../../engine/tensor/index.ts'
import { stateOfArray, stateOfParts } from '../agent.ts'
import { applyGradient, gradientStep } from '../gradient-step.ts'
import {
  type BufferPart,
  bufferPart,
  type SacBuffer,
  type SacSizes,
  compileSacPrograms,
  createSacNetworks,
  type SacNetworks,
  type SacPrograms,
} from './sac-programs.ts'

/** The share of one of `of` threads: some rows for the actor, and some of the critics with all rows. */
export interface SacShare {
  rank: 0 | 1
  of: 1 | 2
  /** Waits until the other thread has reached the same barrier. */
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
  /** Equal on every thread. */
  readonly actor: ParameterSet
  /** Belong to this thread. */
  readonly critics: ParameterSet
  /**
   * Makes one gradient step from the data in the buffer, with `times` updates of the actor. Calls `updated` after
   * each of them, which may read the results and write the next temperature.
   */
  step(times: number, updated?: (time: number) => void): Promise<void>
  state(): SacLearnerState
  restore(state: SacLearnerState): void
  dispose(): Promise<void>
}

/** The share of one thread in the gradient step, as plain data. */
interface Thread {
  sizes: SacSizes
  buffer: SacBuffer
  share: SacShare
  /** This thread's rows for the actor, from `from` to before `to`, and the numbers of its critics. */
  from: number
  to: number
  criticNumbers: readonly number[]
  networks: SacNetworks
  programs: SacPrograms
  /** Parameters as inputs of a program. */
  feeds: Record<'actor' | 'critics' | 'targets', Record<string, HostTensor>>
  parts: ReturnType<typeof bufferParts>
  scratch: ReturnType<typeof scratchFor>
}

/**
 * The gradient step of soft actor-critic on one thread, alone or as one of a pair. In a pair, each thread has one
 * critic with its target, gradient and optimiser, and half of the actor's rows. Both have a copy of the actor.
 * They exchange one number for each row, and the gradient of the actor.
 */
export async function createSacLearner(
  sizes: SacSizes,
  buffer: SacBuffer,
  share: SacShare,
): Promise<SacLearner> {
  const { rank, of, threads, barrier } = share
  const rows = sizes.config.batchSize
  const criticNumbers = of === 2 ? [rank] : [0, 1]
  const from = of === 2 && rank === 1 ? rows >> 1 : 0
  const to = of === 2 && rank === 0 ? rows >> 1 : rows
  const networks = createSacNetworks(sizes, criticNumbers.length)
  const { actor, critics, targets, actorAdam, criticAdam } = networks
  const programs = await compileSacPrograms(sizes, networks, {
    count: to - from,
    ownsGradient: of === 1,
    threads,
  })
  const thread: Thread = {
    sizes,
    buffer,
    share,
    from,
    to,
    criticNumbers,
    networks,
    programs,
    feeds: {
      actor: parameterFeeds(actor),
      critics: parameterFeeds(critics),
      targets: parameterFeeds(targets),
    },
    parts: bufferParts(sizes, buffer, { from, to, criticNumbers }),
    scratch: scratchFor(rows, to - from, sizes.action),
  }
  return {
    actor,
    critics,
    async step(times, updated = () => {}) {
      await learnCritics(thread)
      for (let time = 0; time < times; time++) await learnActor(thread, time, () => updated(time))
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
      const { act, targetValues, values, criticObjective, actorObjective } = programs
      await Promise.all([act.release(), targetValues.release(), values.release()])
      await criticObjective.dispose()
      await actorObjective.dispose()
    },
  }
}

/**
 * The parts of the buffer that a thread reads and writes: all rows of the batch and of its critics, and its own
 * rows for the actor.
 */
function bufferParts(
  { config, width, action: k }: SacSizes,
  buffer: SacBuffer,
  { from, to, criticNumbers }: { from: number; to: number; criticNumbers: readonly number[] },
) {
  const rows = config.batchSize
  /** Rows `first` to before `last`, of `columns` numbers each. */
  const part = (name: keyof SacBuffer, [first, last]: readonly number[], columns?: number): BufferPart =>
    bufferPart(buffer[name].subarray(first * (columns ?? 1), last * (columns ?? 1)), [
      last - first,
      ...(columns === undefined ? [] : [columns]),
    ])
  const all = [0, rows]
  const own = [from, to]
  return {
    all: {
      observations: part('observations', all, width),
      nextObservations: part('nextObservations', all, width),
      actions: part('actions', all, k),
      nextActions: part('nextActions', all, k),
      played: part('played', all, k),
    },
    own: {
      observations: part('observations', own, width),
      nextObservations: part('nextObservations', own, width),
      noise: Array.from({ length: 1 + config.actorEvery }, (_, time) =>
        part('noise', [time * rows + from, time * rows + to], k),
      ),
      nextActions: part('nextActions', own, k),
      nextLogprobs: part('nextLogprobs', own),
      played: part('played', own, k),
      logprobs: part('logprobs', own),
    },
    critics: criticNumbers
      .map((critic) => [critic * rows, (critic + 1) * rows])
      .map((range) => ({
        nextValues: part('nextValues', range),
        values: part('values', range),
        derivatives: part('actionGradients', range, k),
      })),
  }
}

function scratchFor(rows: number, count: number, k: number) {
  const zeros = (...shape: number[]) => ({
    data: new Float32Array(shape.reduce((product, length) => product * length, 1)),
    shape,
  })
  return {
    /** Values of the critics, [rows]. */
    target: zeros(rows),
    /** Gradient of the loss with respect to the actions of the thread's rows, through the lesser critic. */
    push: zeros(count, k),
    temperature: zeros(1),
    /** Parameters of the actor's distribution, and the gradient of the loss with respect to them. */
    parameters: zeros(count, 2 * k),
    derivatives: zeros(count, 2 * k),
  }
}

/** Samples actions of the policy for the thread's rows, with their log-probabilities. */
async function play(
  { programs, feeds, scratch }: Thread,
  observations: BufferPart,
  noise: BufferPart,
  { actions, logprobs }: { actions: BufferPart; logprobs: BufferPart },
): Promise<void> {
  observations.read()
  noise.read()
  const { parameters } = scratch
  await programs.act.run({ observations: observations.tensor, ...feeds.actor }, { parameters })
  await programs.draw.run(
    { parameters, noise: noise.tensor },
    { actions: actions.tensor, logprobs: logprobs.tensor },
  )
  actions.write()
  logprobs.write()
}

/** One step of the thread's critics towards the reward plus the discounted soft value of the lesser target critic. */
async function learnCritics(thread: Thread): Promise<void> {
  const { sizes, buffer, share, networks, programs, parts, scratch } = thread
  const { all, own } = parts
  await play(thread, own.nextObservations, own.noise[0], {
    actions: own.nextActions,
    logprobs: own.nextLogprobs,
  })
  share.barrier()
  await targetValues(thread)
  share.barrier()
  writeTargets(sizes.config.batchSize, buffer, scratch.target.data)
  all.observations.read()
  all.actions.read()
  const { critics: parameters, criticAdam: optimiser } = networks
  const { outputs } = await gradientStep(
    { objective: programs.criticObjective, parameters, optimiser },
    sizes.config.criticLearningRate,
    { observations: all.observations.tensor, actions: all.actions.tensor, target: scratch.target },
  )
  optimiser.follow(sizes.config.tau)
  thread.criticNumbers.forEach((critic, i) => {
    buffer.losses[critic] = outputs[`loss${i}`].data[0]
    buffer.estimates[critic] = outputs[`estimate${i}`].data[0]
  })
}

async function targetValues({ programs, feeds, parts: { all, critics } }: Thread): Promise<void> {
  all.nextObservations.read()
  all.nextActions.read()
  await programs.targetValues.run(
    { observations: all.nextObservations.tensor, actions: all.nextActions.tensor, ...feeds.targets },
    Object.fromEntries(critics.map(({ nextValues }, i) => [`value${i}`, nextValues.tensor])),
  )
  for (const { nextValues } of critics) nextValues.write()
}

function writeTargets(
  rows: number,
  { nextValues, nextLogprobs, rewards, discounts, temperatures: [alpha] }: SacBuffer,
  target: Float32Array,
): void {
  for (let r = 0; r < rows; r++) {
    const soft = Math.min(nextValues[r], nextValues[rows + r]) - alpha * nextLogprobs[r]
    target[r] = rewards[r] + discounts[r] * soft
  }
}

/** One step of the actor towards actions of higher soft value. */
async function learnActor(thread: Thread, time: number, updated: () => void): Promise<void> {
  const { buffer, share, networks, programs, parts, scratch } = thread
  const { own } = parts
  const { derivatives, parameters, push, temperature } = scratch
  const noise = own.noise[1 + time]
  await play(thread, own.observations, noise, { actions: own.played, logprobs: own.logprobs })
  share.barrier()
  await playedValues(thread)
  share.barrier()
  writePush(thread)
  temperature.data[0] = buffer.temperatures[time]
  await programs.policyDerivatives.run(
    { parameters, noise: noise.tensor, push, temperature },
    { derivatives },
  )
  await programs.actorObjective.evaluate(networks.actor, {
    observations: own.observations.tensor,
    derivatives,
  })
  updated()
  if (share.of === 2) addGradients(thread)
  const { actor, actorAdam } = networks
  const { views } = programs.actorObjective.gradient
  const gradient = { data: actorAdam.own.gradient, views }
  applyGradient(actorAdam, actor, gradient, thread.sizes.config.actorLearningRate)
}

async function playedValues({ programs, feeds, parts: { all, critics } }: Thread): Promise<void> {
  all.played.read()
  await programs.values.run(
    { observations: all.observations.tensor, actions: all.played.tensor, ...feeds.critics },
    Object.fromEntries(
      critics.flatMap(({ values, derivatives }, i) => [
        [`value${i}`, values.tensor],
        [`derivative${i}`, derivatives.tensor],
      ]),
    ),
  )
  for (const { values, derivatives } of critics) {
    values.write()
    derivatives.write()
  }
}

/** The lesser critic of each row gives the gradient for its action. */
function writePush({ sizes, buffer, from, to, scratch }: Thread): void {
  const { action: k } = sizes
  const rows = sizes.config.batchSize
  const { values, actionGradients } = buffer
  for (let r = from; r < to; r++) {
    const least = values[r] <= values[rows + r] ? r : rows + r
    for (let i = 0; i < k; i++) scratch.push.data[(r - from) * k + i] = -actionGradients[least * k + i] / rows
  }
}

/** The gradient of the actor is the sum over both threads, which add in the same order. */
function addGradients({ sizes, buffer, share, networks, programs }: Thread): void {
  const { gradients } = buffer
  gradients.set(programs.actorObjective.gradient.data, share.rank * sizes.actor)
  share.barrier()
  const sum = networks.actorAdam.own.gradient
  for (let i = 0; i < sum.length; i++) sum[i] = gradients[i] + gradients[sizes.actor + i]
}
