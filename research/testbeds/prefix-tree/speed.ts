/** Measures the testbed: `node --import tsx --conditions agoge-source research/testbeds/prefix-tree/speed.ts`. */
import { exactValues, mixedDifficultyTask, presetRule, reinforce, variableLengthTask } from './index.ts'
import type { PrefixTask } from './index.ts'

/** Median milliseconds of processor time of several calls, so that other programs of the machine hardly count. */
function milliseconds(call: (seed: number) => void, times = 21): number {
  const all = Array.from({ length: times }, (_, i) => {
    const from = process.cpuUsage()
    call(i + 1)
    const { user, system } = process.cpuUsage(from)
    return (user + system) / 1000
  })
  return all.sort((a, b) => a - b)[times >> 1]
}

const steps = 200
const tasks: Record<string, (seed: number) => PrefixTask> = {
  'variable length': (seed) => variableLengthTask({ seed }),
  'mixed difficulty': (seed) => mixedDifficultyTask({ seed }),
}
for (const [name, task] of Object.entries(tasks)) {
  const { policy, train } = task(1)
  const start = policy.weights.slice()
  const run = (seed: number): void => {
    policy.weights.set(start)
    policy.changed()
    reinforce(policy, {
      ...presetRule('dapo'),
      resampling: 0,
      questions: train,
      steps,
      learningRate: 1,
      seed,
    })
  }
  const [making, running, walking] = [
    milliseconds((seed) => void task(seed)),
    milliseconds(run),
    milliseconds(() => void exactValues(policy)),
  ]
  const perSecond = Math.round((1000 * steps) / running)
  console.log(
    `${name}: ${policy.tree.featureStart.length - 1} prefixes; task ${making.toFixed(1)} ms; ` +
      `${steps} steps of 8 x 8 answers ${running.toFixed(1)} ms (${perSecond} updates/s); exact values ${walking.toFixed(1)} ms`,
  )
}
