import {
  add,
  concat,
  matmul,
  mul,
  pad,
  reshape,
  slice,
  softmax,
  sub,
  sum,
  transpose,
} from '../../engine/tensor/index.ts'
import type { Dim, Tensor } from '../../engine/tensor/index.ts'
import { limited, ownScores, product } from './attention.ts'
import { headWidth } from './config.ts'
import type { TransformerConfig } from './config.ts'

/**
 * Like `attend`, for rows of `blocks` x `size` tokens. The queries of a block are compared only with keys up to the end
 * of the block, so only half a block of hidden scores per row is computed, and the working set stays in the CPU cache
 * (as Dao et al. 2022, arXiv:2205.14135; here the probabilities are kept for the gradients).
 *
 * @param limits [size, size], limits within a block; or [batch, blocks, size, time], those of every block, if rows
 * differ
 */
export function attendBlockwise(
  q: Tensor,
  k: Tensor,
  v: Tensor,
  limits: Tensor,
  batch: Dim,
  { blocks, size }: { blocks: number; size: Dim },
  config: TransformerConfig,
) {
  const width = headWidth(config)
  const heads = config.num_attention_heads
  const shared = config.num_key_value_heads
  const group = heads / shared
  const time = product(blocks, size)
  /** Block `at` of the queries, with the heads that share keys one after another: [batch, shared, group * size, width]. */
  const queriesOf = (x: Tensor, at: number): Tensor => {
    const apart = reshape(x, [batch, shared, group, blocks, product(size, width)])
    const cut = slice(apart, { axis: 3, start: at, end: at + 1 })
    return reshape(cut, [batch, shared, product(group, size), width])
  }
  /**
   * Positions `from * size` up to `to * size`. There are two equivalent ways to slice. Equal nodes are computed once,
   * so a slice for the gradient that equals the slice of the values would be kept in memory until then.
   */
  const keysOf = (x: Tensor, from: number, to: number, inner: readonly Dim[] = [size, width]): Tensor => {
    const cut = slice(reshape(x, [batch, shared, blocks, ...inner]), { axis: 2, start: from, end: to })
    return reshape(cut, [batch, shared, product(to - from, size), width])
  }
  const keysAgain = (x: Tensor, to: number): Tensor => keysOf(x, 0, to, [product(size, width)])
  const joined = (parts: Tensor[]): Tensor => {
    const apart = parts.map((part) => reshape(part, [batch, shared, group, 1, product(size, width)]))
    return reshape(concat(apart, 3), [batch, heads, time, width])
  }
  const differ = limits.shape.length > 2
  /**
   * Limits of the queries of block `at`, broadcast to the scores: for keys from its own block on, or from the first if
   * rows differ.
   */
  const limitsOf = (at: number): Tensor => {
    if (!differ) return limits
    const block = slice(limits, { axis: 1, start: at, end: at + 1 })
    const cut = slice(block, { axis: 3, end: product(at + 1, size) })
    return reshape(cut, [batch, 1, 1, size, product(at + 1, size)])
  }
  const made = Array.from({ length: blocks }, (_, at) => {
    const queries = queriesOf(q, at)
    const apart = (x: Tensor, count: number, last: Dim): Tensor =>
      reshape(x, [batch, shared, count, size, last])
    const own = ownScores(apart(queries, group, width), apart(keysOf(k, at, at + 1), 1, width))
    // Earlier blocks are fully visible and need no limits.
    const from = differ ? 0 : at
    const last = product(at + 1 - from, size)
    const scores = apart(matmul(queries, keysOf(k, from, at + 1), { transposeB: true }), group, last)
    const near = reshape(limited(scores, limitsOf(at), own), [batch, shared, product(group, size), last])
    const far = from === 0 ? [] : [matmul(queries, keysOf(k, 0, from), { transposeB: true })]
    const probabilities = softmax(concat([...far, near], -1))
    return { queries, probabilities, mixed: matmul(probabilities, keysOf(v, 0, at + 1)) }
  })
  const mixed = joined(made.map((block) => block.mixed))
  return {
    y: reshape(transpose(mixed, [0, 2, 1, 3]), [product(batch, time), heads * width]),
    pullback(gy: Tensor) {
      const g = transpose(reshape(gy, [batch, time, heads, width]), [0, 2, 1, 3])
      const gQueries: Tensor[] = []
      const sums: { k?: Tensor; v?: Tensor } = {}
      /** Adds the gradient of the positions up to block `at` to the sum. */
      const addUp = (name: 'k' | 'v', part: Tensor): void => {
        const before = sums[name]
        sums[name] = before === undefined ? part : add(part, pad(before, { axis: 2, after: size }))
      }
      for (const [at, { queries, probabilities, mixed: own }] of made.entries()) {
        const gMixed = queriesOf(g, at)
        addUp('v', matmul(probabilities, gMixed, { transposeA: true }))
        // As in `attend`.
        const inner = sum(mul(gMixed, own), { axes: [-1], keepDims: true })
        const gWithin = matmul(gMixed, keysAgain(v, at + 1), { transposeB: true })
        const gScores = mul(probabilities, sub(gWithin, inner))
        gQueries.push(matmul(gScores, keysAgain(k, at + 1)))
        addUp('k', matmul(gScores, queries, { transposeA: true }))
      }
      return { q: joined(gQueries), k: sums.k!, v: sums.v! }
    },
  }
}

/** More blocks take longer to compile and are hardly faster (16 blocks: 8 % at 4096 tokens). */
const mostBlocks = 8

const longRow = 512

/** The length to which `time` tokens are padded, so that all blocks have the same size. */
export function rowLength(time: number): number {
  return time < longRow ? time : Math.ceil(time / mostBlocks) * mostBlocks
}

/** Number of attention blocks for a row of that length (`rowLength`); 1 if splitting would not be faster. */
export function attentionBlocks(time: number): number {
  return time < longRow ? 1 : Math.min(mostBlocks, 2 ** Math.floor(Math.log2(time / 128)))
}
