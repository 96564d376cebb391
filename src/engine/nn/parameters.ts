import type { Random } from '../random/index.ts'
import type { HostTensor } from '../tensor/index.ts'

/** The shape and the initial values of a parameter. */
export interface ParameterSpec {
  shape: readonly number[]
  /** Values in row-major order. */
  initialise: (random: Random, shape: readonly number[]) => Float32Array
}

/**
 * The parameters of a model in one array, so that optimisers and copies work on a single array. `views` are the
 * parameters by name.
 */
export interface ParameterSet {
  readonly data: Float32Array
  readonly shapes: Readonly<Record<string, readonly number[]>>
  readonly views: Readonly<Record<string, Float32Array>>
}

/** Zeros in the given shapes. Uses `memory` if given. */
export function zeroParameters(
  shapes: Readonly<Record<string, readonly number[]>>,
  memory?: Float32Array,
): ParameterSet {
  const sizes = Object.entries(shapes).map(([name, shape]) => ({
    name,
    size: shape.reduce((product, length) => product * length, 1),
  }))
  const data = memory ?? new Float32Array(sizes.reduce((sum, { size }) => sum + size, 0))
  const views: Record<string, Float32Array> = {}
  let offset = 0
  for (const { name, size } of sizes) {
    views[name] = data.subarray(offset, offset + size)
    offset += size
  }
  return { data, shapes, views }
}

/** Total number of parameters. */
export const countParameters = (specs: Readonly<Record<string, { shape: readonly number[] }>>): number =>
  Object.values(specs).reduce(
    (sum, { shape }) => sum + shape.reduce((product, length) => product * length, 1),
    0,
  )

/** Initialises parameters, each from its own random stream. Adding a parameter does not change the others. */
export function createParameters(
  specs: Readonly<Record<string, ParameterSpec>>,
  random: Random,
  memory?: Float32Array,
): ParameterSet {
  const made = zeroParameters(
    Object.fromEntries(Object.entries(specs).map(([name, { shape }]) => [name, shape])),
    memory,
  )
  for (const [name, { shape, initialise }] of Object.entries(specs))
    made.views[name].set(initialise(random.split(name), shape))
  return made
}

/** Parameters as program inputs, named `prefix` + name. The arrays are read in place. */
export function parameterFeeds(
  { shapes, views }: Omit<ParameterSet, 'data'>,
  prefix = '',
): Record<string, HostTensor> {
  return Object.fromEntries(
    Object.entries(shapes).map(([name, shape]) => [`${prefix}${name}`, { data: views[name], shape }]),
  )
}

/** Moves `target` towards `source` (Polyak averaging): target += rate (source - target). A rate of 1 copies. */
export function moveTowards(target: ParameterSet, source: ParameterSet, rate: number): void {
  const to = target.data
  const from = source.data
  if (rate === 1) to.set(from)
  else for (let i = 0; i < to.length; i++) to[i] += rate * (from[i] - to[i])
}
