import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'

const run = promisify(execFile)

/** Prints the fewest bytes that a step of one environment allocated in a thousand steps, once the compiler has seen enough of them. */
const program = `
import { createVectorEnvironment, classicEnvironments, loadMujoco } from 'agoge/classic'
await loadMujoco()
const vector = createVectorEnvironment(classicEnvironments[process.argv[1]], { numEnvs: 4 })
vector.reset()
vector.actions.fill(0.1)
for (let k = 0; k < 5000; k++) vector.reset()
let fewest = Infinity
for (let round = 0; round < 40 && fewest >= 4; round++) {
  globalThis.gc()
  const before = process.memoryUsage().heapUsed
  for (let t = 0; t < 1000; t++) vector.step()
  fewest = Math.min(fewest, (process.memoryUsage().heapUsed - before) / 4000)
}
console.log(fewest)`

// In a process of its own: the test runner counts calls, which allocates.
test.each(['inverted-pendulum', 'hopper'])(
  '%s allocates nothing for a step, nor for an episode',
  async (name) => {
    const node = ['--expose-gc', '--import', 'tsx', '--conditions', 'agoge-source', '--input-type=module']
    const { stdout } = await run(process.execPath, [...node, '-e', program, name])
    expect(Number(stdout)).toBeLessThan(4)
  },
)
