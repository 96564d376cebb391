import { readFileSync } from 'node:fs'
import { activationBytes, createLocalBackend, initialiseParameters, standingBytes } from 'agoge/llm'
import { grownConfig } from './model-sizes.ts'

const { sizes, recompute } = JSON.parse(process.argv[2]) as { sizes: number[]; recompute: boolean }
const [width, layers, vocabulary, rows, time] = sizes
const config = { ...grownConfig(width, layers, Math.max(1024, time + 1)), vocab_size: vocabulary }
const megabytes = (field: string): number =>
  Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024

const parameters = initialiseParameters(config, 1)
const weights = parameters.data.byteLength / 2 ** 20
const before = megabytes('VmRSS') - weights
const backend = createLocalBackend({ config, parameters, threads: 1, tokenBudget: rows * time, recompute })
const batch = Array.from({ length: rows }, (_, row) => {
  const zeros = () => new Float32Array(time + 1)
  return {
    tokens: Int32Array.from({ length: time + 1 }, (_unused, t) => (row * 7919 + t * 104_729) % 1000),
    logprobs: zeros(),
    advantages: zeros(),
    weights: { rl: zeros(), ce: zeros().fill(1e-3, 1), kl: zeros() },
  }
})
await backend.forwardBackward(batch, { name: 'cross_entropy' })
await backend.optimStep({ learningRate: 1e-3 })
const estimate =
  standingBytes(config, { threads: 1, moved: parameters.data.length }) +
  activationBytes(config, { rows, time, recompute })
console.log(JSON.stringify({ peak: megabytes('VmHWM') - before, estimate: estimate / 2 ** 20 }))
process.exit(0)
