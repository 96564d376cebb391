import { rowSize } from '../environment/index.ts'
import type { EnvironmentDefinition } from '../environment/index.ts'
import { AgogeError } from '../../error.ts'
import { encoderNetwork, windowOf } from '../policy/index.ts'
import type { Encoder } from '../policy/index.ts'
import { findNamed } from './find-named.ts'

/** The sizes of each kind of body, with the least value of each. */
const encoderSizes: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  mlp: {},
  cnn: { layers: 0 },
  gru: { size: 1, window: 1 },
  transformer: { window: 1, size: 1, heads: 1, layers: 1 },
}
/** Of a GRU whose state is carried from step to step. */
const carriedSizes = { size: 1, sequence: 1, window: 1 }
const layerSizes = { channels: 1, kernel: 1, stride: 1, padding: 0 }

/** @throws AgogeError for a body that is none, or none for this algorithm and the observations of this environment. */
export function checkEncoder(algorithm: string, given: unknown, definition: EnvironmentDefinition): void {
  const { kind, ...sizes } = given as { kind: string } & Record<string, unknown>
  const known = findNamed('encoder', kind, encoderSizes)
  const carried = kind === 'gru' && algorithm === 'ppo' && sizes['window'] === undefined
  checkSizes(`body ${kind}`, sizes, carried ? carriedSizes : known)
  if (carried) return
  if ('window' in known && sizes['window'] === undefined) {
    throw new AgogeError(`The body ${kind} of ${algorithm} needs to know how many observations it sees`, {
      code: 'bad-argument',
      given: sizes,
      expected: 'a window, for example 8',
      hint: 'only ppo carries the state of a gru from step to step, and needs no window',
    })
  }
  const encoder = given as Encoder
  const inputs = rowSize(definition.observation) * (windowOf(encoder) ?? 1)
  // Making its network tells whether the rest fits; weights are not made.
  encoderNetwork(encoder, definition.observation, { inputs, prefix: '' })
}

function checkSizes(
  of: string,
  sizes: Readonly<Record<string, unknown>>,
  known: Readonly<Record<string, number>>,
): void {
  for (const [name, value] of Object.entries(sizes)) {
    const least = findNamed(`size of ${of}`, name, known)
    if (of === 'body cnn' && Array.isArray(value)) {
      for (const layer of value)
        checkSizes('a layer of convolutions', layer as Record<string, unknown>, layerSizes)
    } else if (value !== undefined && !(Number.isSafeInteger(value) && (value as number) >= least)) {
      throw new AgogeError(`${name} of ${of} cannot be ${JSON.stringify(value)}`, {
        code: 'bad-argument',
        given: value,
        expected: `a whole number of at least ${least}`,
      })
    }
  }
}
