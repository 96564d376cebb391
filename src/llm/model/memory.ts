import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import { attentionBlocks } from './blockwise-attention.ts'
import { headWidth } from './config.ts'
import type { TransformerConfig } from './config.ts'
import { parameterLayout } from './parameters.ts'

const bytes = Float32Array.BYTES_PER_ELEMENT
/** Size of the largest array that the C library serves from its own memory (glibc's limit). */
const quickBytes = 2 ** 25

/** Limits of a micro-batch. */
export interface BatchLimits {
  /** Tokens of a micro-batch, padding included. */
  tokenBudget: number
  /** Tokens of a row that several sequences share. Default: one row per sequence. */
  packing?: number
  /** Memory limit of its activations. Default: no limit. */
  activationBytes?: number
  /** Whether blocks are recomputed for their gradients: always, never, or only if the memory requires it (default). */
  recompute?: boolean
}

/** What a micro-batch needs memory for besides its tokens. */
export interface BatchKind {
  /** Rows have attention limits of their own. */
  packed?: boolean
  /** The loss has an entropy bonus. */
  entropyBonus?: boolean
}

/** What `standingBytes` depends on besides the architecture. */
interface StandingParts {
  threads: number
  /** Number of parameters that the optimiser updates. */
  moved: number
  /** With a LoRA adapter: the number of weights in the matrices that it adapts. Default: no adapter. */
  adapted?: number
}

/** How to run a micro-batch of rows of some length. */
export interface BatchShape {
  rows: number
  recompute: boolean
}

/**
 * Peak memory in bytes of the activations of a micro-batch of `rows` x `time` tokens, for loss and gradients with all
 * tokens predicted. Counts the operator results that are alive at once; compared with measured peaks in
 * docs/guides/models.md.
 */
export function activationBytes(
  config: TransformerConfig,
  batch: BatchKind & { rows: number; time: number; recompute: boolean },
): number {
  const { rows, time, recompute, packed = false, entropyBonus = false } = batch
  const { hidden_size: width, intermediate_size: inner, num_hidden_layers: layers, vocab_size } = config
  const queries = config.num_attention_heads * headWidth(config)
  const keys = config.num_key_value_heads * headWidth(config)
  const blocks = attentionBlocks(time)
  const scores = config.num_attention_heads * time
  const seen = (scores * (blocks + 1)) / (2 * blocks)
  const kept = 4 * width + 3 * queries + 4 * keys + 4 * inner + seen
  // The runtime computes the score gradients of all blocks before it uses them.
  const passing =
    4 * width + 2 * queries + 4 * inner + (blocks === 1 ? 3 * scores : seen + (3 * scores) / blocks)
  const wide = entropyBonus ? 5 : 3
  const probabilities = wide * (recompute ? Math.min(vocab_size, 2 ** 24 / (rows * time)) : vocab_size)
  const layered = recompute ? (layers + 4) * width + kept : layers * kept
  const limits = packed ? time : 0
  return bytes * rows * time * (layered + limits + Math.max(passing, probabilities))
}

/**
 * Memory in bytes that training needs besides activations: weights, copies of weights and gradients for programs, the
 * gradient, and the optimiser's averages of the `moved` parameters, for `threads` threads. If `moved` are those of a
 * LoRA adapter, `adapted` is the number of weights beneath it, which are stored besides; gradients are then its own.
 */
export function standingBytes(config: TransformerConfig, training: StandingParts): number {
  const { threads, moved, adapted } = training
  const { size } = parameterLayout(config)
  // Two sums of gradients, and the gradient itself; folded factors of an adapter.
  const learned = adapted === undefined ? 3 * size : 4 * moved
  // Weights, and folded weights.
  const thread = 2 * size + learned
  const ofAdapter = adapted === undefined ? 0 : moved
  const shared = threads > 1 ? size + ofAdapter : 0
  return bytes * (threads * thread + shared + 3 * moved + ofAdapter + (adapted ?? 0))
}

/**
 * The number of rows of length `time` in a micro-batch, and whether to recompute blocks. As many rows as the token
 * budget allows, fewer if they do not fit, recomputed if not even one fits. A single row may exceed the token budget,
 * but not the memory. Throws `AgogeError` (`memory-budget`) if a single row does not fit.
 */
export function batchShape(
  config: TransformerConfig,
  limits: BatchLimits,
  time: number,
  kind: BatchKind = {},
): BatchShape {
  const { tokenBudget, activationBytes: room = Infinity } = limits
  const most = Math.max(1, Math.floor(tokenBudget / time))
  const blocks = attentionBlocks(time)
  const ways = limits.recompute === undefined ? [false, true] : [limits.recompute]
  for (const recompute of ways) {
    const fits = Math.floor(room / activationBytes(config, { rows: 1, time, recompute, ...kind }))
    // Recomputing keeps no memory between runs, and the system clears larger arrays anew each time.
    const quick = recompute
      ? Math.max(1, Math.floor((quickBytes * blocks) / (bytes * config.num_attention_heads * time ** 2)))
      : most
    if (fits >= 1) return { rows: Math.min(most, fits, quick), recompute }
  }
  const needed = activationBytes(config, { rows: 1, time, recompute: ways.at(-1)!, ...kind })
  const what = kind.packed === true ? 'row' : 'sequence'
  throw new AgogeError(`a ${what} of ${time} tokens does not fit into the memory that training may take`, {
    code: 'memory-budget',
    given: `${megabytes(room)} for activations of a thread`,
    expected: `${megabytes(needed)} for this ${what}`,
    hint: `raise memoryBytes, use fewer threads, or ${kind.packed === true ? 'pack shorter rows' : 'cut the sequences'}`,
  })
}

/**
 * `memoryBytes` as limits of each thread's micro-batches. Throws `AgogeError`: `memory-budget` if the model alone takes
 * more, `bad-config`.
 */
export function batchLimits(
  config: TransformerConfig,
  options: { memoryBytes?: number; tokenBudget?: number; recompute?: boolean; packing?: number },
  training: StandingParts,
): BatchLimits {
  const { memoryBytes, tokenBudget = 1024, recompute, packing } = options
  if (packing !== undefined && !(Number.isInteger(packing) && packing > 0))
    throw new AgogeError('packing is not a valid row length', {
      code: 'bad-config',
      given: packing,
      expected: 'a whole number of tokens, as 512',
    })
  if (!(Number.isInteger(training.threads) && training.threads >= 1))
    throw new AgogeError('threads is not a valid number of threads', {
      code: 'bad-config',
      given: training.threads,
      expected: 'a whole number from 1',
    })
  if (!(tokenBudget >= 1))
    throw new AgogeError('tokenBudget is not a valid micro-batch size', {
      code: 'bad-config',
      given: tokenBudget,
      expected: 'a number of tokens, as 1024',
    })
  const limits = {
    tokenBudget,
    ...defined({ packing, recompute }),
  }
  if (memoryBytes === undefined) return limits
  const standing = standingBytes(config, training)
  const room = (memoryBytes - standing) / training.threads
  if (room > 0) return { ...limits, activationBytes: room }
  throw new AgogeError('the model does not fit into the memory that training may take', {
    code: 'memory-budget',
    given: megabytes(memoryBytes),
    expected: `more than ${megabytes(standing)} in ${training.threads} threads`,
    hint: 'raise memoryBytes, or use threads: 1, which saves the copies of a thread',
  })
}

const megabytes = (count: number): string => `${Math.ceil(count / 1e6)} MB`
