import { assembleModule, type WasmFunction } from './assembler.ts'
import { hostSteps } from './host-steps.ts'
import type { Plan, PlanStep } from './plan.ts'

/** A function of a module: numbers in, nothing out. */
export type Kernel = (...numbers: number[]) => void

/** Memory that functions work in, seen as numbers. */
export interface Machine {
  /** All of it; another array after `reserve` made room. */
  readonly numbers: Float32Array
  readonly kernels: Readonly<Record<string, Kernel>>
  /**
   * Makes room for this many numbers. Where there was less, every typed array of the program is read more slowly from then on (V8 then
   * has to expect that arrays lose their memory: 12 of 45 ns of a step of CartPole), so room is better asked for at once.
   */
  readonly reserve: (count: number) => void
}

/** What is used of the global of that name, which the types of Node 20 lack. */
interface Engine {
  Memory: new (options: { initial: number }) => { buffer: ArrayBuffer; grow: (pages: number) => number }
  Module: new (bytes: Uint8Array<ArrayBuffer>) => object
  Instance: new (module: object, imports: object) => { exports: Record<string, Kernel> }
}

const numbersInPage = 16_384

/** Assembles functions and makes a memory for them, with room for this many numbers. */
export const instantiate = (functions: readonly WasmFunction[], room = 0): Machine =>
  loadModule(assembleModule(functions), room)

/** The same for a module that is assembled. */
export function loadModule(bytes: Uint8Array<ArrayBuffer>, room = 0): Machine {
  const { Memory, Module, Instance } = (globalThis as unknown as { WebAssembly: Engine }).WebAssembly
  const memory = new Memory({ initial: Math.max(1, Math.ceil(room / numbersInPage)) })
  const { exports } = new Instance(new Module(bytes), { env: { memory } })
  let numbers = new Float32Array(memory.buffer)
  return {
    get numbers() {
      return numbers
    },
    kernels: exports,
    reserve(count) {
      const missing = Math.ceil((count - numbers.length) / numbersInPage)
      if (missing <= 0) return
      memory.grow(missing)
      numbers = new Float32Array(memory.buffer)
    },
  }
}

/** A plan in the memory of a machine, which several plans may share. */
export interface RunnablePlan {
  readonly plan: Plan
  readonly machine: Machine
  /** Writes what does not change from run to run. */
  prepare(): void
  run(): void
}

/** Makes the steps of a plan into calls of the machine's kernels. */
export function runnable(plan: Plan, machine: Machine): RunnablePlan {
  machine.reserve(plan.size)
  const calls = plan.steps.map((step) => callOf(step, plan, machine))
  return {
    plan,
    machine,
    prepare() {
      const { numbers } = machine
      for (const { at, count, value } of plan.filled) numbers.fill(value, at, at + count)
      for (const { at, data } of plan.constants) numbers.set(data, at)
    },
    run() {
      for (const call of calls) call()
    },
  }
}

function callOf(step: PlanStep, { bindings }: Plan, machine: Machine): () => void {
  if ('kernel' in step) {
    const kernel = machine.kernels[step.kernel]
    const { given } = step
    return () => kernel(...given)
  }
  if ('zeros' in step) {
    const [from, to] = step.zeros
    return () => void machine.numbers.fill(0, from, to)
  }
  const run = hostSteps[step.host](step, step.place, bindings)
  return () => run(machine.numbers)
}
