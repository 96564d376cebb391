import { readFileSync } from 'node:fs'
import { smallConfig } from '../model/config.ts'
import { createLocalBackend } from '../backend/local-backend.ts'
import { activationBytes, standingBytes } from '../model/memory.ts'
import { initialiseParameters } from '../model/parameters.ts'
import { crossEntropy } from './tiny-model.ts'

// A process of its own: trains on rows of several lengths within a stated memory, and tells what it took and might have taken, in MB.
const config = { ...smallConfig, num_hidden_layers: 3, max_position_embeddings: 2048 }
const parameters = initialiseParameters(config, 1)
const megabytes = (field: string): number =>
  Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024
const before = megabytes('VmRSS')
const memoryBytes =
  standingBytes(config, { threads: 1, moved: parameters.data.length }) +
  activationBytes(config, { rows: 1, time: 1600, recompute: false })
const backend = createLocalBackend({ config, parameters, threads: 1, tokenBudget: 8192, memoryBytes })
for (const [rows, time] of [
  [14, 400],
  [4, 800],
  [1, 1600],
]) {
  const row = crossEntropy(
    Int32Array.from({ length: time }, (_, t) => (t * 104_729) % 1000),
    1e-3,
  )
  await backend.forwardBackward(
    Array.from({ length: rows }, () => row),
    { name: 'cross_entropy' },
  )
}
console.log(JSON.stringify({ peak: megabytes('VmHWM') - before, stated: memoryBytes / 2 ** 20 }))
process.exit(0)
