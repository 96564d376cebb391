import { createLocalBackend, smallConfig, initialiseParameters } from 'agoge/llm'
import type { TransformerConfig, TrainingSequence } from 'agoge/llm'
import { alternate } from './alternate.ts'
import type { Measurement } from './alternate.ts'
import { betterPeer } from './peer.ts'

/** A timed training step. */
export interface StepBenchmark {
  name: string
  config: TransformerConfig
  rows: number
  length: number
  /** Steps per measurement. */
  count: number
  rounds?: number
}

/** Forward and backward pass and AdamW update on `rows` x `length` tokens, in tokens per second. */
export async function trainStepOf(benchmark: StepBenchmark): Promise<Measurement> {
  const { name, config, rows, length, count, rounds } = benchmark
  const backend = createLocalBackend({ config, parameters: initialiseParameters(config, 1) })
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
  const sizes = { width, layers, heads, inner, rows, length }
  const measured = await alternate({
    name,
    unit: 'tokens/s',
    amount: rows * length,
    count,
    ...(rounds === undefined ? {} : { rounds }),
    async ours(steps) {
      for (let i = 0; i < steps; i++) {
        await backend.forwardBackward(batch, { name: 'cross_entropy' })
        await backend.optimStep({ learningRate: 1e-3 })
      }
    },
    peer: await betterPeer('train_step', Math.max(1, Math.ceil(count / 2)), [JSON.stringify(sizes)]),
  })
  await backend.dispose()
  return measured
}

/** The 0.9M model on 32x128 tokens. */
export const trainStep = (): Promise<Measurement> =>
  trainStepOf({ name: 'train-step', config: smallConfig, rows: 32, length: 128, count: 10 })
