import { createLocalBackend, smallConfig, initialiseParameters } from 'agoge/unstable/language'
import type { TrainingSequence } from 'agoge/episode'
import { alternate } from './alternate.ts'
import type { Measurement } from './alternate.ts'
import { betterPeer } from './peer.ts'

const rows = 32
const length = 128

/** Forward, backward and AdamW update of the 0.9M model on 32x128 tokens, in tokens a second. */
export async function trainStep(): Promise<Measurement> {
  const backend = createLocalBackend({
    config: smallConfig,
    parameters: initialiseParameters(smallConfig, 1),
  })
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
  return alternate({
    name: 'train-step',
    unit: 'tokens/s',
    amount: rows * length,
    count: 10,
    async ours(count) {
      for (let i = 0; i < count; i++) {
        await backend.forwardBackward(batch, { name: 'cross_entropy' })
        await backend.optimStep({ learningRate: 1e-3 })
      }
    },
    peer: await betterPeer('train_step', 5),
  })
}
