// Training and greedy sampling on the device of AGOGE_DEVICE; prints what came out as JSON.
import { createLocalBackend } from '../backend/local-backend.ts'
import { initialiseParameters } from '../model/parameters.ts'
import { tinyConfig } from './tiny-model.ts'

const backend = createLocalBackend({
  config: { ...tinyConfig, model_type: 'qwen3' },
  parameters: initialiseParameters({ ...tinyConfig, model_type: 'qwen3' }, 1),
})
const numbers = (value: number): Float32Array => new Float32Array(13).fill(value, 1)
const sequences = [3, 5, 7].map((step) => ({
  tokens: Int32Array.from({ length: 13 }, (_, i) => (i * step) % 64),
  logprobs: numbers(-4),
  advantages: numbers(step - 5),
  weights: { rl: numbers(0.01), ce: numbers(0.02), kl: numbers(0.01) },
}))
const losses: number[] = []
const norms: number[] = []
for (let step = 0; step < 4; step++) {
  losses.push((await backend.forwardBackward(sequences, { name: 'ppo' })).loss)
  norms.push((await backend.optimStep({ learningRate: 0.01 })).gradientNorm)
}
const prompts = sequences.map(({ tokens }, key) => ({ prompt: tokens, key }))
const sampled = await backend.sample(prompts, { maxTokens: 6, stop: [], temperature: 0, seed: 1 })
console.log(
  JSON.stringify({
    losses,
    norms,
    tokens: sampled.map(({ tokens }) => [...tokens]),
    logprobs: sampled.flatMap(({ logprobs }) => [...logprobs]),
  }),
)
await backend.dispose()
