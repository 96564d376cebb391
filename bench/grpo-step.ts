import { grpoAdvantages } from 'agoge/losses'
import type { TrainingSequence, SampleOutput, TransformerConfig } from 'agoge/llm'
import { createLocalBackend, initialiseParameters, smallConfig } from 'agoge/llm'
import { alternate } from './alternate.ts'
import type { Measurement } from './alternate.ts'
import { betterPeer } from './peer.ts'

const config: TransformerConfig = { ...smallConfig, model_type: 'qwen2' }
const [groups, members, promptLength, length] = [8, 8, 16, 64]

/** A whole step of GRPO (sample, score, update), in steps per second. The score is the mean reward of the last step. */
export async function grpoStep(): Promise<Measurement> {
  const backend = createLocalBackend({ config, parameters: initialiseParameters(config, 1) })
  let step = 0
  return alternate({
    name: 'grpo-step',
    unit: 'steps/s',
    amount: 1,
    count: 10,
    async ours(count) {
      const begin = performance.now()
      let reward = 0
      for (let i = 0; i < count; i++, step++) {
        const prompts = Array.from({ length: groups }, (_, group) => promptOf((step * groups + group) % 512))
        const rows = prompts.flatMap((prompt) => Array.from({ length: members }, () => prompt))
        const outputs = await backend.sample(
          rows.map((prompt, key) => ({ prompt, key })),
          { maxTokens: length, stop: [], temperature: 1, seed: step },
        )
        const rewards = outputs.map(({ tokens }) => tokens.filter((token) => token % 2 === 0).length / length)
        reward = rewards.reduce((sum, value) => sum + value, 0) / rewards.length
        const advantages = prompts.flatMap((_, group) =>
          grpoAdvantages(rewards.slice(group * members, (group + 1) * members)),
        )
        const sequences = outputs.map((output, row) => sequenceOf(rows[row], output, advantages[row]))
        await backend.forwardBackward(sequences, { name: 'ppo', clipLow: 0.2, clipHigh: 0.2 })
        await backend.optimStep({ learningRate: 1e-3, beta2: 0.999, clip: 1 })
      }
      return { seconds: (performance.now() - begin) / 1000, score: reward }
    },
    peer: await betterPeer('grpo_step', 3),
  })
}

const promptOf = (row: number): Int32Array =>
  Int32Array.from({ length: promptLength }, (_, t) => 2 + ((row * 7919 + t * 104_729) % 1022))

function sequenceOf(
  prompt: Int32Array,
  { tokens, logprobs }: SampleOutput,
  advantage: number,
): TrainingSequence {
  const size = promptLength + length
  const zeros = (): Float32Array => new Float32Array(size)
  const sampled = zeros()
  sampled.set(logprobs, promptLength)
  const both = new Int32Array(size)
  both.set(prompt)
  both.set(tokens, promptLength)
  return {
    tokens: both,
    logprobs: sampled,
    advantages: zeros().fill(advantage, promptLength),
    weights: { rl: zeros().fill(1 / (groups * members * length), promptLength), ce: zeros(), kl: zeros() },
  }
}
