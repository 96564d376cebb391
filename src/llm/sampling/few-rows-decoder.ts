import { instantiate, matrixProducts } from '../../engine/tensor/index.ts'
import { blockWeightNames } from '../model/block.ts'
import { headWidth } from '../model/config.ts'
import type { TransformerConfig } from '../model/config.ts'
import type { FoldedWeights } from '../model/folded-weights.ts'
import type { KeyValueCache } from './key-value-cache.ts'
import type { ReadTokens } from './token-reader.ts'

/** Most rows and most model weights for this decoder. Beyond them a call of the runtime is faster. */
export const mostFewRows = 2
const mostWeights = 2 * 2 ** 20

/**
 * Decodes one token for each of a few rows with WebAssembly kernels. For small models, a call of the runtime costs more
 * overhead than work.
 */
export interface FewRowsDecoder {
  decode(tokens: Int32Array, positions: Int32Array, inverseTemperatures: Float32Array): ReadTokens
  /** Call it after the weights change. */
  clear(): void
}

/** Whether a model is small enough for this decoder. */
export function isForFewRows(config: TransformerConfig): boolean {
  const {
    hidden_size: hidden,
    intermediate_size: inner,
    num_hidden_layers: layers,
    vocab_size: size,
  } = config
  const width = headWidth(config)
  const heads = 2 * config.num_attention_heads + 2 * config.num_key_value_heads
  return layers * hidden * (heads * width + 3 * inner) + size * hidden <= mostWeights
}

/** A copy of the content of a cache slot. */
interface Mirror {
  stamp: number
  length: number
}

/** `weights` returns the current folded weights; the tables are those of `rotaryTable`. */
export function createFewRowsDecoder(
  config: TransformerConfig,
  cache: KeyValueCache,
  weights: () => FoldedWeights,
  table: { cosine: Float32Array; sine: Float32Array },
): FewRowsDecoder {
  const {
    hidden_size: hidden,
    intermediate_size: inner,
    num_hidden_layers: layers,
    vocab_size: size,
  } = config
  const width = headWidth(config)
  const half = width / 2
  const heads = config.num_attention_heads
  const shared = config.num_key_value_heads
  const group = heads / shared
  const projected = (heads + 2 * shared) * width
  const machine = instantiate(Object.values(matrixProducts))
  const { matmul, matmulTransposed } = machine.kernels
  let end = 0
  /** Allocates this many numbers at a multiple of four. */
  const place = (count: number): number => {
    const at = end
    end += Math.ceil(count / 4) * 4
    return at
  }
  const longest = Math.max(hidden, projected, inner, size, config.max_position_embeddings)
  const zeros = place(longest)
  const x = place(mostFewRows * hidden)
  const unit = place(mostFewRows * hidden)
  const qkv = place(mostFewRows * projected)
  const mixed = place(mostFewRows * heads * width)
  const gate = place(mostFewRows * inner)
  const up = place(mostFewRows * inner)
  const scores = place(group * (config.max_position_embeddings + 1))
  const logits = place(mostFewRows * size)
  const names = blockWeightNames(config)
  const places = new Map<string, number>()
  const given = weights()
  const shapes = Object.entries(given).filter(([name]) => name !== 'embedding')
  for (const [name, { data }] of shapes) places.set(name, place(data.length))
  const mirrorsAt = end
  let capacity = 0
  let hasWeights = false
  let mirrors: Mirror[] = []
  const newKeys = Array.from({ length: layers }, () => new Float32Array(mostFewRows * shared * width))
  const newValues = Array.from({ length: layers }, () => new Float32Array(mostFewRows * shared * width))
  const probabilities = new Float32Array(mostFewRows * size)
  const logitsOut = new Float32Array(mostFewRows * size)
  machine.reserve(end)

  const mirrorSize = (): number => layers * 2 * shared * capacity * width
  /** Offset of the keys (part 0) or values (part 1) of a head. */
  const mirrorAt = (mirror: number, layer: number, part: number, head: number): number =>
    mirrorsAt + mirror * mirrorSize() + ((layer * 2 + part) * shared + head) * capacity * width

  function takeWeights(): void {
    if (hasWeights) return
    const folded = weights()
    for (const [name, at] of places) machine.numbers.set(folded[name].data, at)
    hasWeights = true
  }

  /** Copies of the first slots, updated with what the cache has added since. */
  function follow(count: number): number[] {
    if (capacity < cache.capacity) {
      capacity = Math.max(cache.capacity, 2 * capacity)
      machine.reserve(mirrorsAt + mostFewRows * mirrorSize())
      mirrors = Array.from({ length: mostFewRows }, () => ({ stamp: -1, length: 0 }))
    }
    const stamps = Array.from({ length: count }, (_, slot) => cache.stamp(slot))
    const free = mirrors.map((_, i) => i).filter((i) => !stamps.includes(mirrors[i].stamp))
    return stamps.map((stamp, slot) => {
      const found = mirrors.findIndex((mirror) => mirror.stamp === stamp)
      const i = found >= 0 ? found : free.pop()!
      const mirror = mirrors[i]
      if (found < 0) Object.assign(mirror, { stamp, length: 0 })
      const length = cache.lengths[slot]
      for (let layer = 0; layer < layers && mirror.length < length; layer++) {
        for (const [part, store] of [cache.keys[layer], cache.values[layer]].entries()) {
          for (let head = 0; head < shared; head++) {
            const from = (slot * shared + head) * cache.capacity * width
            machine.numbers.set(
              store.subarray(from + mirror.length * width, from + length * width),
              mirrorAt(i, layer, part, head) + mirror.length * width,
            )
          }
        }
      }
      mirror.length = length
      return i
    })
  }

  const linear = (
    from: number,
    weight: string,
    bias: string,
    to: number,
    rows: number,
    into: number,
    out: number,
  ) =>
    matmulTransposed(
      4 * from,
      4 * places.get(weight)!,
      4 * (places.get(bias) ?? zeros),
      4 * to,
      rows,
      into,
      out,
    )

  function normalise(rows: number): void {
    const { numbers } = machine
    for (let row = 0; row < rows * hidden; row += hidden) {
      let squares = 0
      for (let i = row; i < row + hidden; i++) squares += numbers[x + i] * numbers[x + i]
      const scale = 1 / Math.sqrt(squares / hidden + config.rms_norm_eps)
      for (let i = row; i < row + hidden; i++) numbers[unit + i] = numbers[x + i] * scale
    }
  }

  function addTo(from: number, count: number): void {
    const { numbers } = machine
    for (let i = 0; i < count; i++) numbers[x + i] += numbers[from + i]
  }

  /** Normalises a head if its family does, and rotates it. */
  function turn(at: number, gain: number | undefined, position: number): void {
    const { numbers } = machine
    if (gain !== undefined) {
      let squares = 0
      for (let i = at; i < at + width; i++) squares += numbers[i] * numbers[i]
      const scale = 1 / Math.sqrt(squares / width + config.rms_norm_eps)
      for (let i = 0; i < width; i++) numbers[at + i] *= scale * numbers[gain + i]
    }
    for (let i = 0; i < half; i++) {
      const cosine = table.cosine[position * half + i]
      const sine = table.sine[position * half + i]
      const [a, b] = [numbers[at + i], numbers[at + half + i]]
      numbers[at + i] = a * cosine - b * sine
      numbers[at + half + i] = b * cosine + a * sine
    }
  }

  /** Attention of a row's heads, including its own token at `length - 1`. */
  function attend(row: number, mirror: number, layer: number, length: number): void {
    const { numbers } = machine
    for (let head = 0; head < shared; head++) {
      const queries = qkv + row * projected + head * group * width
      matmulTransposed(
        4 * queries,
        4 * mirrorAt(mirror, layer, 0, head),
        4 * zeros,
        4 * scores,
        group,
        width,
        length,
      )
      for (let g = 0; g < group; g++) softmax(numbers, scores + g * length, length)
      const to = mixed + (row * heads + head * group) * width
      matmul(
        4 * scores,
        4 * length,
        4,
        4 * mirrorAt(mirror, layer, 1, head),
        4 * zeros,
        4 * to,
        group,
        length,
        width,
      )
    }
  }

  function block(layer: number, rows: number, positions: Int32Array, copies: readonly number[]): void {
    const { numbers } = machine
    const of = (name: string): string => `${layer}.${name}`
    const gainOf = (name: 'queryNorm' | 'keyNorm'): number | undefined =>
      names.includes(name) ? places.get(of(name)) : undefined
    const [ofQueries, ofKeys] = [gainOf('queryNorm'), gainOf('keyNorm')]
    normalise(rows)
    linear(unit, of('qkv'), of('qkvBias'), qkv, rows, hidden, projected)
    for (let row = 0; row < rows; row++) {
      const at = qkv + row * projected
      for (let head = 0; head < heads + shared; head++)
        turn(at + head * width, head < heads ? ofQueries : ofKeys, positions[row])
      const length = mirrors[copies[row]].length + 1
      for (const [part, news] of [newKeys[layer], newValues[layer]].entries()) {
        const from = at + (heads + part * shared) * width
        news.set(numbers.subarray(from, from + shared * width), row * shared * width)
        for (let head = 0; head < shared; head++) {
          const to = mirrorAt(copies[row], layer, part, head) + (length - 1) * width
          numbers.copyWithin(to, from + head * width, from + (head + 1) * width)
        }
      }
      attend(row, copies[row], layer, length)
    }
    linear(mixed, of('out'), of('outBias'), unit, rows, heads * width, hidden)
    addTo(unit, rows * hidden)
    normalise(rows)
    linear(unit, of('gate'), '', gate, rows, hidden, inner)
    linear(unit, of('up'), '', up, rows, hidden, inner)
    for (let i = 0; i < rows * inner; i++) {
      const value = numbers[gate + i]
      numbers[gate + i] = (value / (1 + Math.exp(-value))) * numbers[up + i]
    }
    linear(gate, of('down'), '', unit, rows, inner, hidden)
    addTo(unit, rows * hidden)
  }

  return {
    decode(tokens, positions, inverseTemperatures) {
      const rows = tokens.length
      takeWeights()
      const copies = follow(rows)
      const { numbers } = machine
      const embedding = weights().embedding.data
      for (let row = 0; row < rows; row++)
        numbers.set(embedding.subarray(tokens[row] * hidden, (tokens[row] + 1) * hidden), x + row * hidden)
      for (let layer = 0; layer < layers; layer++) block(layer, rows, positions, copies)
      normalise(rows)
      for (let i = 0; i < rows * hidden; i++) numbers[unit + i] *= inverseTemperatures[Math.floor(i / hidden)]
      linear(unit, 'head', '', logits, rows, hidden, size)
      logitsOut.set(numbers.subarray(logits, logits + rows * size))
      for (let row = 0; row < rows; row++) softmax(numbers, logits + row * size, size)
      probabilities.set(numbers.subarray(logits, logits + rows * size))
      return { probabilities, logits: logitsOut, run: { keys: newKeys, values: newValues, chunk: 1 } }
    },
    clear() {
      hasWeights = false
      for (const mirror of mirrors) mirror.stamp = -1
    },
  }
}

function softmax(numbers: Float32Array, at: number, count: number): void {
  let most = -Infinity
  for (let i = at; i < at + count; i++) if (numbers[i] > most) most = numbers[i]
  let sum = 0
  for (let i = at; i < at + count; i++) {
    const value = Math.exp(numbers[i] - most)
    numbers[i] = value
    sum += value
  }
  const scale = 1 / sum
  for (let i = at; i < at + count; i++) numbers[i] *= scale
}
