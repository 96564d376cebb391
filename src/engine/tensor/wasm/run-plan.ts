import { assembleModule, type WasmFunction } from './assembler.ts'
import { hostSteps } from './host-steps.ts'
import type { Plan, PlanStep } from './plan.ts'

/** A function of a module. It takes numbers and returns nothing. */
export type Kernel = (...numbers: number[]) => void

/** The memory of functions, as numbers. */
export interface Machine {
  /** The whole memory. A new array after `reserve` has grown it. */
  readonly numbers: Float32Array
  readonly kernels: Readonly<Record<string, Kernel>>
  /**
   * Grows the memory to this many numbers. Growing makes every typed array of the process slower from then on,
   * because V8 then expects detached arrays (12 of 45 ns of a step of CartPole). So reserve enough in the first
   * call.
   */
  readonly reserve: (count: number) => void
}

/** The part of the global `WebAssembly` that is used here. The types of Node 20 lack it. */
interface Engine {
  Memory: new (options: { initial: number }) => { buffer: ArrayBuffer; grow: (pages: number) => number }
  Module: new (bytes: Uint8Array<ArrayBuffer>) => object
  Instance: new (module: object, imports: object) => { exports: Record<string, Kernel> }
}

const numbersInPage = 16_384

/** Assembles functions and allocates a memory of this many numbers for them. */
export const instantiate = (functions: readonly WasmFunction[], room = 0): Machine =>
  loadModule(assembleModule(functions), room)

/** The same for an assembled module. */
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

/** A plan in the memory of a machine. Several plans may share it. */
export interface RunnablePlan {
  readonly plan: Plan
  readonly machine: Machine
  /** Writes the values that do not change between runs. */
  prepare(): void
  run(): void
}

/** Turns the steps of a plan into calls of the machine's kernels. */
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
