import { AgogeError } from '../../error.ts'

/** A part of a learner that is kept in checkpoints; what it gives is a copy. */
export interface StateDict {
  state(): unknown
  restore(saved: unknown): void
}

/** Parts by name as one: what a learner needs to go on exactly where it was. */
export const stateOfParts = (parts: Readonly<Record<string, StateDict>>): StateDict => ({
  state: () => Object.fromEntries(Object.entries(parts).map(([name, part]) => [name, part.state()])),
  restore(saved) {
    for (const [name, part] of Object.entries(parts)) {
      if (typeof saved !== 'object' || saved === null || !Object.hasOwn(saved, name))
        throw otherLearner(`without ${name}`)
      part.restore((saved as Record<string, unknown>)[name])
    }
  },
})

/** An array that is written in place. Throws `checkpoint-mismatch` for one of another length. */
export const stateOfArray = (array: Float32Array | Float64Array | Int32Array | Uint8Array): StateDict => ({
  state: () => array.slice(),
  restore(saved) {
    const length = ArrayBuffer.isView(saved) ? (saved as Float32Array).length : undefined
    if (length !== array.length) throw otherLearner(`${length ?? 'no'} numbers, not ${array.length}`)
    array.set(saved as Float32Array)
  },
})

/** What a variable holds: plain data. */
export const stateOfValue = <T>(read: () => T, write: (value: T) => void): StateDict => ({
  state: () => structuredClone(read()),
  restore: (saved) => write(structuredClone(saved as T)),
})

const otherLearner = (given: string): AgogeError =>
  new AgogeError('The state is of another learner', {
    code: 'checkpoint-mismatch',
    given,
    expected: 'the state of a learner of the same algorithm, environment and settings',
  })
