import { workerData } from 'node:worker_threads'
import { acquireSession } from '../onnx/session.ts'
import type { HostData, HostTensor } from '../node.ts'
import { loadModule, runnable } from '../wasm/plan.ts'
import { setState, states, waitWhile } from './helper.ts'
import type { HelperWork, SharedTensor } from './helper.ts'

// Runs one program on request over memory shared with the requesting thread.
const { job, control, inputs, outputs } = workerData as HelperWork

/** Copies inputs in, runs, copies outputs out. */
async function prepare(): Promise<() => void | Promise<void>> {
  const named = (all: readonly SharedTensor[], name: string): SharedTensor =>
    all.find((tensor) => tensor.name === name)!
  if (job.kind === 'kernels') {
    const machine = loadModule(job.bytes, job.plan.size)
    const program = runnable(job.plan, machine)
    program.prepare()
    const reads = job.plan.inputs.map(({ name, at }) => ({ from: named(inputs, name).data, at }))
    const writes = job.plan.outputs.map(({ name, at, size }) => ({
      to: named(outputs, name).data,
      from: machine.numbers.subarray(at, at + size),
    }))
    return () => {
      for (const { from, at } of reads) machine.numbers.set(from, at)
      program.run()
      for (const { to, from } of writes) to.set(from)
    }
  }
  // The runtime does not read shared memory.
  const own = (all: readonly SharedTensor[]): Record<string, HostTensor> =>
    Object.fromEntries(all.map(({ name, data, shape }) => [name, { data: unshared(data), shape }]))
  const [feeds, results] = [own(inputs), own(outputs)]
  const session = await acquireSession(job.model, { threads: 1, device: job.device, keepMemory: true })
  return async () => {
    for (const { name, data } of inputs) feeds[name].data.set(data)
    await session.run(job.inputs, feeds, job.outputs, results)
    for (const { name, data } of outputs) data.set(results[name].data)
  }
}

const unshared = (data: HostData): HostData => data.slice()

const run = await prepare()
setState(control, states.idle)
for (;;) {
  waitWhile(control, states.idle)
  try {
    const running = run()
    if (running !== undefined) await running
    setState(control, states.idle)
  } catch {
    // The requesting thread then computes it itself, and gets the same error.
    setState(control, states.failed)
    break
  }
}
