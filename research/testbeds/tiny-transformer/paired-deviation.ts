// How many seeds a comparison of two arms needs on this testbed:
//   node --import tsx --conditions agoge-source research/testbeds/tiny-transformer/paired-deviation.ts \
//     [--variant dr-grpo] [--seeds 12] [--rate 3e-4] [--steps 50]
// Seeds are those above 100, which results never use. Seconds are those of the processor, so that other work does not count.
import { parseArgs } from 'node:util'
import { average } from 'agoge/statistics'
import { chainTask } from './tasks.ts'
import { createTestbed } from './testbed.ts'

const { values } = parseArgs({
  options: {
    baseline: { type: 'string', default: 'grpo' },
    variant: { type: 'string', default: 'dr-grpo' },
    seeds: { type: 'string', default: '12' },
    rate: { type: 'string', default: '3e-4' },
    steps: { type: 'string', default: '50' },
  },
})

/** Pairs for a two-sided test at 5% with 80% power, by the normal approximation. Both numbers in the same unit. */
const seedsNeeded = (deviation: number, effect: number): number =>
  Math.max(2, Math.ceil(((1.96 + 0.8416) * (deviation / effect)) ** 2))

const deviationOf = (numbers: readonly number[]): number => {
  const centre = average(numbers)
  return Math.sqrt(numbers.reduce((sum, each) => sum + (each - centre) ** 2, 0) / (numbers.length - 1))
}

const testbed = createTestbed({ task: (seed) => chainTask({ seed, operations: 'abcd' }) })
const gains: Record<'baseline' | 'variant', number[]> = { baseline: [], variant: [] }
const starts: number[] = []
const seconds: Record<'start' | 'arm', number[]> = { start: [], arm: [] }

async function processorSeconds<T>(work: () => Promise<T>, to: number[]): Promise<T> {
  const before = process.cpuUsage()
  const result = await work()
  const { user, system } = process.cpuUsage(before)
  to.push((user + system) / 1e6)
  return result
}

for (let seed = 101; seed < 101 + Number(values.seeds); seed++) {
  const { start, warm } = await processorSeconds(() => testbed(seed, () => Promise.resolve()), seconds.start)
  starts.push(start)
  for (const arm of ['baseline', 'variant'] as const) {
    const settings = {
      algorithm: values[arm],
      learningRate: Number(values.rate),
      steps: Number(values.steps),
    }
    const { gain } = await processorSeconds(() => testbed(seed, ({ train }) => train(settings)), seconds.arm)
    gains[arm].push(gain)
  }
  const [a, b] = [gains.baseline.at(-1) ?? 0, gains.variant.at(-1) ?? 0]
  console.log(
    `seed ${seed}: validation ${(100 * warm.passAt1).toFixed(1)}, test ${(100 * start).toFixed(1)}; ` +
      `${values.baseline} ${a.toFixed(1)}, ${values.variant} ${b.toFixed(1)} points gained`,
  )
}

const differences = gains.variant.map((gain, i) => gain - gains.baseline[i])
const deviation = deviationOf(differences)
console.log(
  `start on the test split: ${(100 * average(starts)).toFixed(1)}, deviation ${(100 * deviationOf(starts)).toFixed(1)}`,
)
for (const arm of ['baseline', 'variant'] as const)
  console.log(
    `${values[arm]}: ${average(gains[arm]).toFixed(1)} points gained, deviation ${deviationOf(gains[arm]).toFixed(1)}`,
  )
console.log(`paired difference: ${average(differences).toFixed(1)} points, deviation ${deviation.toFixed(1)}`)
console.log(`seeds for an effect of 5 points with 80% power: ${seedsNeeded(deviation, 5)}`)
console.log(
  `processor seconds: start ${average(seconds.start).toFixed(2)}, arm ${average(seconds.arm).toFixed(2)}; ` +
    `60 seeds of 3 arms on two cores: ${((60 * (average(seconds.start) + 3 * average(seconds.arm))) / 120).toFixed(1)} minutes`,
)
