import { createLocalBackend, smallConfig, initialiseParameters } from 'agoge/llm'
import type { LocalBackend, TransformerConfig, TrainingSequence } from 'agoge/llm'
import { alternate } from './alternate.ts'
import type { Measurement } from './alternate.ts'
import { betterPeer } from './peer.ts'
import type { Peer } from './peer.ts'

/** A timed training step. */
export interface StepBenchmark {
  name: string
  config: TransformerConfig
  rows: number
  length: number
  /** Steps per measurement. */
  count: number
  rounds?: number
  /** Trains a LoRA adapter of this rank, on both sides. Default: all weights. */
  rank?: number
  /** The peer. Default: PyTorch, with PEFT for an adapter. `all weights`: Agoge, training all weights. */
  against?: 'all weights'
}

/** Forward and backward pass and AdamW update on `rows` x `length` tokens, in tokens per second. */
export async function trainStepOf(benchmark: StepBenchmark): Promise<Measurement> {
  const { name, config, rows, length, count, rounds, rank, against } = benchmark
  const open = (lora: number | undefined): LocalBackend =>
    createLocalBackend({
      config,
      parameters: initialiseParameters(config, 1),
      ...(lora === undefined ? {} : { trainable: { lora: { rank: lora } } }),
    })
  const backend = open(rank)
  const sequence = (row: number): TrainingSequence => {
    const zeros = () => new Float32Array(length + 1)
    return {
      tokens: Int32Array.from({ length: length + 1 }, (_, i) => (row * 7919 + i * 104_729) % 1024),
      logprobs: zeros(),
      advantages: zeros(),
      weights: { rl: zeros(), ce: zeros().fill(1 / (rows * length), 1), kl: zeros() },
    }
  }
  const batch = Array.from({ length: rows }, (_, row) => sequence(row))
  const {
    hidden_size: width,
    num_hidden_layers: layers,
    num_attention_heads: heads,
    intermediate_size: inner,
  } = config
  const sizes = { width, layers, heads, inner, rows, length, ...(rank === undefined ? {} : { rank }) }
  const steps = async (trained: LocalBackend, times: number): Promise<void> => {
    for (let i = 0; i < times; i++) {
      await trained.forwardBackward(batch, { name: 'cross_entropy' })
      await trained.optimStep({ learningRate: 1e-3 })
    }
  }
  const whole = against === undefined ? undefined : open(undefined)
  if (whole !== undefined) await steps(whole, 1)
  const measured = await alternate({
    name,
    unit: 'tokens/s',
    amount: rows * length,
    count,
    ...(rounds === undefined ? {} : { rounds }),
    ours: (times) => steps(backend, times),
    peer:
      whole === undefined
        ? await betterPeer('train_step', Math.max(1, Math.ceil(count / 2)), [JSON.stringify(sizes)])
        : peerOf((times) => steps(whole, times)),
  })
  await Promise.all([backend.dispose(), whole?.dispose()])
  return measured
}

/** A peer in this process. */
function peerOf(work: (count: number) => Promise<void>): Peer {
  return {
    async measure(count) {
      const begin = performance.now()
      await work(count)
      return { seconds: (performance.now() - begin) / 1000 }
    },
    close() {},
  }
}

/** The 0.9M model on 32x128 tokens. */
export const trainStep = (): Promise<Measurement> =>
  trainStepOf({ name: 'train-step', config: smallConfig, rows: 32, length: 128, count: 10 })
