import { countParameters, zeroParameters, compileObjective, createAdam } from '../../../engine/nn/index.ts'
import type { ParameterSet } from '../../../engine/nn/index.ts'
import {
  sharedArray,
  add,
  compileForSize,
  gradients,
  mean,
  mul,
  square,
  sub,
  sum,
} from '../../../engine/tensor/index.ts'
import type { HostTensor, InputSpec, Tensor } from '../../../engine/tensor/index.ts'
import { box } from '../../environment/index.ts'
import type { ArraySpace } from '../../environment/index.ts'
import type { SacConfig } from './sac.ts'
import {
  fanInUniform,
  mlpActionValues,
  mlpNetwork,
  overObservations,
  squashedGaussian,
} from '../../policy/index.ts'

/** Plain data from which every thread builds the same networks. */
export interface SacSizes {
  config: SacConfig
  observation: ArraySpace
  /** Lengths of an observation and of an action. */
  width: number
  action: number
  /** Number of parameters of the actor. */
  actor: number
}

/**
 * The arrays that the threads of a gradient step share, by name: the batch, the noise (first for the next actions,
 * then for each update of the actor), and the results for each row. [2, ...] has one part for each critic, or for
 * each thread.
 */
export type SacBuffer = Readonly<Record<keyof ReturnType<typeof shapesOf>, Float32Array>>

function shapesOf({ config, width, action, actor }: SacSizes) {
  const rows = config.batchSize
  return {
    observations: [rows, width],
    nextObservations: [rows, width],
    /** In [-1, 1]. */
    actions: [rows, action],
    rewards: [rows],
    discounts: [rows],
    noise: [1 + config.actorEvery, rows, action],
    /** The temperature at each update of the actor. The critics use the first. */
    temperatures: [1 + config.actorEvery],
    nextActions: [rows, action],
    nextLogprobs: [rows],
    nextValues: [2, rows],
    played: [rows, action],
    logprobs: [rows],
    values: [2, rows],
    /** Gradient of the values with respect to the actions. */
    actionGradients: [2, rows, action],
    losses: [2],
    estimates: [2],
    gradients: [2, actor],
  }
}

/** Creates the arrays. Returns null if they should be shared and threads cannot share memory here. */
export function sacBuffer(sizes: SacSizes, isShared: boolean): SacBuffer | null {
  const shapes = shapesOf(sizes)
  const length = countParameters(
    Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, { shape }])),
  )
  const memory = isShared ? sharedArray(length) : new Float32Array(length)
  return memory === null ? null : zeroParameters(shapes, memory).views
}

/** A part of the buffer that a program reads or writes. The runtime cannot use shared memory directly. */
export interface BufferPart {
  readonly tensor: HostTensor
  /** Copies from the buffer, before a program reads. */
  read(): void
  /** Copies to the buffer, after a program has written. */
  write(): void
}

export function bufferPart(part: Float32Array, shape: readonly number[]): BufferPart {
  const isShared = typeof SharedArrayBuffer !== 'undefined' && part.buffer instanceof SharedArrayBuffer
  const data = isShared ? new Float32Array(part.length) : part
  return {
    tensor: { data, shape },
    read: () => void (isShared && data.set(part)),
    write: () => void (isShared && part.set(data)),
  }
}

type NetworkSizes = Pick<SacSizes, 'observation' | 'action' | 'config'>

/** The actor's network: means and log standard deviations. */
export const sacActor = ({ observation, action, config: { hidden, activation, encoder } }: NetworkSizes) =>
  overObservations(
    observation,
    (inputs) =>
      fanInUniform(mlpNetwork({ inputs, hidden, activation, outputs: 2 * action, prefix: 'actor.' })),
    { encoder, prefix: 'actor.' },
  )

export const sacCritics = (
  { observation, action, config: { hidden, activation, encoder } }: NetworkSizes,
  count = 2,
) => mlpActionValues({ observation, action, count }, { hidden, activation, encoder })

export type SacNetworks = ReturnType<typeof createSacNetworks>

/** The networks of a thread with `critics` critics, their parameters (zeros at first), and their optimisers. */
export function createSacNetworks(sizes: NetworkSizes, critics: number) {
  const actorNetwork = sacActor(sizes)
  const criticNetworks = sacCritics(sizes, critics)
  const shapes = (specs: typeof actorNetwork.specs): ParameterSet['shapes'] =>
    Object.fromEntries(Object.entries(specs).map(([name, { shape }]) => [name, shape]))
  const actorAdam = createAdam(countParameters(actorNetwork.specs))
  const criticAdam = createAdam(countParameters(criticNetworks.specs))
  return {
    actorNetwork,
    criticNetworks,
    actorAdam,
    criticAdam,
    actor: zeroParameters(shapes(actorNetwork.specs), actorAdam.own.parameters),
    critics: zeroParameters(shapes(criticNetworks.specs), criticAdam.own.parameters),
    targets: zeroParameters(shapes(criticNetworks.specs), criticAdam.own.target),
  }
}

export type SacPrograms = Awaited<ReturnType<typeof compileSacPrograms>>

/**
 * The programs of a gradient step. Sizes are fixed numbers, so that no program computes shapes. Operations on few
 * numbers per row are programs of their own: one WebAssembly kernel replaces dozens of operators of the runtime.
 *
 * @param count rows of this thread for the actor; the critics use all rows.
 * @param ownsGradient true if the gradient of the actor is written directly into its optimiser.
 */
export async function compileSacPrograms(
  { config: { batchSize: rows }, width, action: k }: SacSizes,
  networks: SacNetworks,
  { count, ownsGradient, threads }: { count: number; ownsGradient: boolean; threads: number },
) {
  const { actorNetwork, criticNetworks, actor, critics, targets, actorAdam } = networks
  const observations = { shape: [rows, width] }
  const actions = { shape: [rows, k] }
  const ownObservations = { shape: [count, width] }
  const parameters = { shape: [count, 2 * k] }
  return {
    ...(await compilePolicy({ count, action: k, rows })),
    /** Parameters of the distribution for the thread's rows. */
    act: await compileForSize(
      { observations: ownObservations, ...specsOf(actor) },
      (given) => ({ parameters: actorNetwork.trace(given, given['observations']) }),
      { name: 'sac policy', threads },
    ),
    targetValues: await compileForSize(
      { observations, actions, ...specsOf(targets) },
      (given) => numbered('value', criticNetworks.trace(given, given['observations'], given['actions'])),
      { name: 'sac target critics', threads },
    ),
    /** Values of the critics, and their gradient with respect to each number of an action. */
    values: await compileForSize(
      { observations, actions, ...specsOf(critics) },
      (given) => {
        const values = criticNetworks.trace(given, given['observations'], given['actions'])
        const derivatives = values.map((value) => gradients(sum(value), [given['actions']])[0])
        return { ...numbered('value', values), ...numbered('derivative', derivatives) }
      },
      { name: 'sac critics of the policy', threads },
    ),
    criticObjective: await compileCriticObjective(networks, { rows, observations, actions, threads }),
    actorObjective: await compileObjective({
      name: 'sac actor',
      ...(ownsGradient ? { gradient: actorAdam.own.gradient } : {}),
      threads,
      parameters: actor.shapes,
      inputs: { observations: ownObservations, derivatives: parameters },
      // The loss enters through its derivatives, which give the same gradient.
      trace: (weights, given) => ({
        loss: sum(mul(given['derivatives'], actorNetwork.trace(weights, given['observations']))),
      }),
    }),
  }
}

/**
 * Samples actions of the policy, and computes the derivatives of its loss with respect to the parameters of the
 * distribution.
 */
async function compilePolicy({ count, action: k, rows }: { count: number; action: number; rows: number }) {
  const distribution = squashedGaussian(box([k], -1, 1))
  const parameters = { shape: [count, 2 * k] }
  const drawn = { shape: [count, k] }
  return {
    draw: await compileForSize({ parameters, noise: drawn }, (given) => ({
      ...distribution.sample(given['parameters'], given['noise']),
    })),
    policyDerivatives: await compileForSize(
      { parameters, noise: drawn, push: drawn, temperature: { shape: [1] } },
      (given) => {
        const found = distribution.sample(given['parameters'], given['noise'])
        const entropy = mul(sum(mul(given['temperature'], found.logprobs)), 1 / rows)
        const loss = add(entropy, sum(mul(given['push'], found.actions)))
        return { derivatives: gradients(loss, [given['parameters']])[0] }
      },
    ),
  }
}

const compileCriticObjective = (
  { criticNetworks, critics, criticAdam }: SacNetworks,
  {
    rows,
    observations,
    actions,
    threads,
  }: { rows: number; observations: InputSpec; actions: InputSpec; threads: number },
) =>
  compileObjective({
    name: 'sac critics',
    gradient: criticAdam.own.gradient,
    threads,
    parameters: critics.shapes,
    inputs: { observations, actions, target: { shape: [rows] } },
    trace(weights, given) {
      const estimates = criticNetworks.trace(weights, given['observations'], given['actions'])
      const losses = estimates.map((q) => mul(mean(square(sub(q, given['target']))), 0.5))
      const means = estimates.map((q) => mean(q))
      return {
        loss: losses.reduce((a, b) => add(a, b)),
        outputs: { ...numbered('loss', losses), ...numbered('estimate', means) },
      }
    },
  })

const specsOf = ({ shapes }: Pick<ParameterSet, 'shapes'>): Record<string, InputSpec> =>
  Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, { shape }]))

const numbered = (prefix: string, tensors: readonly Tensor[]): Record<string, Tensor> =>
  Object.fromEntries(tensors.map((tensor, i) => [`${prefix}${i}`, tensor]))
