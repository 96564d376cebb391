// npm run bench -- NAME [--json]: measures Agoge, and the peer if AGOGE_PEERS_PYTHON names a Python with it.
import { setFlagsFromString } from 'node:v8'
import type { Measurement } from './alternate.ts'
import { cartPoleStep } from './cartpole-step.ts'
import { growth } from './growth.ts'
import { grpoStep } from './grpo-step.ts'
import { int8Sampling } from './int8-sampling.ts'
import { mainJobMemory } from './main-job-memory.ts'
import { mujocoStep } from './mujoco-step.ts'
import { packing } from './packing.ts'
import { sampling, samplingBatches } from './sampling.ts'
import { ppoCartPoleSeeds } from './seeds.ts'
import { loraStepSizes, trainStepSizes } from './train-step-sizes.ts'
import { trainStep } from './train-step.ts'
import { trainingMemory } from './training-memory.ts'
import { dqnCartPole, ppoCartPole, sacPendulum } from './trainings.ts'

// As the command line does (src/cli/main.ts).
setFlagsFromString('--heap-growing-percent=300')

const benchmarks: Record<string, () => Promise<Measurement | Measurement[]>> = {
  'train-step': trainStep,
  'train-step-sizes': trainStepSizes,
  'lora-step-sizes': loraStepSizes,
  growth,
  'training-memory': trainingMemory,
  packing,
  sampling,
  'sampling-batches': samplingBatches,
  'int8-sampling': int8Sampling,
  'grpo-step': grpoStep,
  'main-job-memory': mainJobMemory,
  'cartpole-step': cartPoleStep,
  'mujoco-step': mujocoStep,
  'ppo-cartpole': ppoCartPole,
  'ppo-cartpole-seeds': ppoCartPoleSeeds,
  'dqn-cartpole': dqnCartPole,
  'sac-pendulum': sacPendulum,
}

const names = process.argv.slice(2).filter((argument) => !argument.startsWith('-'))
const unknown = names.filter((name) => !(name in benchmarks))
if (unknown.length > 0) {
  console.error(`no benchmark ${unknown.join(', ')}; there are ${Object.keys(benchmarks).join(', ')}`)
  process.exit(1)
}
function print(line: Measurement): void {
  if (process.argv.includes('--json')) return console.log(JSON.stringify(line))
  const scores = line.scores
    ? `, scores ${line.scores.ours.toFixed(1)} and ${line.scores.peer?.toFixed(1) ?? '-'}`
    : ''
  console.log(
    `${line.name}: ours ${line.ours.toPrecision(4)} ${line.unit}, peer ${line.peer?.toPrecision(4) ?? '-'}, ratio ${line.ratio?.toFixed(2) ?? '-'}${scores}`,
  )
}

for (const name of names.length > 0 ? names : Object.keys(benchmarks))
  for (const line of [await benchmarks[name]()].flat()) print(line)
process.exit(0)
