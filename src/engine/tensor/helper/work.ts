import type { InputSignature } from '../bindings.ts'
import type { Device } from '../onnx/device.ts'
import type { DType, HostTensor } from '../types.ts'
import type { Plan } from '../wasm/plan.ts'

/** A program, as plain data: kernels with their plan for one set of sizes, or a model for the runtime. */
export type HelperJob =
  | { kind: 'kernels'; bytes: Uint8Array<ArrayBuffer>; plan: Plan }
  | {
      kind: 'runtime'
      device: Device
      model: Uint8Array
      inputs: readonly InputSignature[]
      outputs: readonly { name: string; dtype: DType }[]
    }

/** An array in memory that threads share. */
export interface SharedTensor extends HostTensor {
  name: string
}

/** What a helping thread is given. */
export interface HelperWork {
  job: HelperJob
  /** [1]: one of `states`. */
  control: Int32Array
  inputs: readonly SharedTensor[]
  outputs: readonly SharedTensor[]
}

export const states = { starting: 0, idle: 1, asked: 2, failed: 3 } as const

/** Looks so often before it sleeps: about as long as what is between two steps of an optimiser. */
const looks = 50_000

/** Waits until the state is another than `state`. */
export function waitWhile(control: Int32Array, state: number): void {
  for (let look = 0; look < looks; look++) if (Atomics.load(control, 0) !== state) return
  while (Atomics.load(control, 0) === state) Atomics.wait(control, 0, state)
}

export function setState(control: Int32Array, state: number): void {
  Atomics.store(control, 0, state)
  Atomics.notify(control, 0)
}
