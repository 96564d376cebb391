import type { Measurement } from './alternate.ts'
import { grownConfig } from './model-sizes.ts'
import { trainStepOf } from './train-step.ts'

/** Name, width, layers, steps per measurement. */
const sizes = [
  ['1M', 128, 4, 10],
  ['5M', 256, 6, 3],
  ['25M', 512, 8, 1],
] as const

/** Training steps of models with 0.9M, 5M and 26M parameters on 32x128 tokens, in tokens per second. */
export async function trainStepSizes(): Promise<Measurement[]> {
  const found: Measurement[] = []
  for (const [size, width, layers, count] of sizes)
    found.push(
      await trainStepOf({
        name: `train-step-${size}`,
        config: grownConfig(width, layers),
        rows: 32,
        length: 128,
        count,
      }),
    )
  return found
}

/**
 * The same steps for a LoRA adapter of rank 16 on every matrix of the blocks: against PEFT, and against Agoge training
 * all weights.
 */
export async function loraStepSizes(): Promise<Measurement[]> {
  const found: Measurement[] = []
  for (const [size, width, layers, count] of sizes) {
    const step = { config: grownConfig(width, layers), rows: 32, length: 128, count, rank: 16 }
    found.push(await trainStepOf({ name: `lora-step-${size}`, ...step }))
    found.push(
      await trainStepOf({ name: `lora-step-${size} to all weights`, ...step, against: 'all weights' }),
    )
  }
  return found
}
