import { AgogeError } from '../../error.ts'

/** Observations that a body with a window sees, unless told. */
const defaultWindow = 8

/**
 * `--encoder transformer,size=32,heads=2`: the kind, then its sizes. A GRU without a window is carried from step to step by
 * PPO, and reads the last 8 observations elsewhere, as a transformer does. The layers of convolutions stand with
 * slashes: `cnn,channels=16/32,kernel=3/3,stride=1/2,padding=1/1`.
 *
 * @throws AgogeError for what is no size; whether the kind has such a size is checked with the rest of the run.
 */
export function readEncoder(text: string, algorithm: string): Record<string, unknown> {
  const [kind = '', ...parts] = text.split(',').map((part) => part.trim())
  const sizes = Object.fromEntries(parts.map(readSize))
  if (kind === 'cnn') return { kind, ...readLayers(sizes) }
  const windowed = kind === 'transformer' || (kind === 'gru' && algorithm !== 'ppo')
  const single = Object.entries(sizes).map(([name, values]) => [name, onlyOne(name, values)])
  return { kind, ...(windowed ? { window: defaultWindow } : {}), ...Object.fromEntries(single) }
}

function readSize(text: string): [name: string, values: number[]] {
  const [, name, numbers = ''] = /^([a-z]+)=([\d/]+)$/i.exec(text) ?? []
  const values = numbers.split('/').map(Number)
  if (name !== undefined && values.every((value) => Number.isSafeInteger(value))) return [name, values]
  throw badSize(text, 'NAME=NUMBER after the kind, for example gru,size=32')
}

function onlyOne(name: string, values: readonly number[]): number {
  if (values.length === 1) return values[0]
  throw badSize(`${name}=${values.join('/')}`, 'one number: only the layers of a cnn have several')
}

/** The sizes by layer; one number is for all layers. */
function readLayers(sizes: Readonly<Record<string, readonly number[]>>): Record<string, unknown> {
  if (Object.keys(sizes).length === 0) return {}
  const { channels } = sizes
  if (channels === undefined || sizes['kernel'] === undefined)
    throw badSize(
      Object.keys(sizes).join(', '),
      'channels and kernel, for example cnn,channels=16/32,kernel=3',
    )
  const uneven = Object.entries(sizes).find(
    ([, values]) => values.length !== channels.length && values.length !== 1,
  )
  if (uneven !== undefined)
    throw badSize(
      `${uneven[0]}=${uneven[1].join('/')}`,
      `${channels.length} numbers, one a layer, or one for all`,
    )
  return {
    layers: channels.map((_, i) =>
      Object.fromEntries(Object.entries(sizes).map(([name, values]) => [name, values[i] ?? values[0]])),
    ),
  }
}

const badSize = (given: string, expected: string): AgogeError =>
  new AgogeError('--encoder takes a kind and its sizes', {
    code: 'bad-option',
    given,
    expected,
    hint: 'mlp; cnn,channels=16/32,kernel=3; gru,size=64; transformer,window=8,size=32,heads=2,layers=1',
  })
