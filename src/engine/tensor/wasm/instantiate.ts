import { assembleModule } from './assembler.ts'
import type { WasmFunction } from './assembler.ts'

/** A function of a module: numbers in, nothing out. */
export type Kernel = (...numbers: number[]) => void

/** Memory that functions work in, seen as numbers. */
export interface Machine {
  /** All of it; another array after `reserve` made room. */
  readonly numbers: Float32Array
  readonly kernels: Readonly<Record<string, Kernel>>
  /**
   * Makes room for so many numbers. Where there was less, every typed array of the program is read more slowly from then on (V8 then
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

/** Assembles functions and makes a memory for them, with room for so many numbers. */
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
