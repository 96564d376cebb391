import { createHelper, sharedArray } from '../tensor/index.ts'
import type { Feeds, Helper, HostTensor, InputSpec, SizedProgram } from '../tensor/index.ts'
import { parameterFeeds, zeroParameters } from './parameters.ts'
import type { ParameterSet } from './parameters.ts'

/** With fewer rows, a second thread costs more than it saves. */
const fewest = 64

/** Loss, metrics and gradients that are means over rows, computed as the mean over both halves of the rows. */
export interface DataParallelSplit {
  /** Whether feeds can be split in halves. Depends only on their sizes. */
  divides(feeds: Feeds): boolean
  /** Returns the metrics, one number each, and writes the gradient. Null if `divides` returns false. */
  evaluate(feeds: Feeds): Promise<Record<string, HostTensor>>
  dispose(): Promise<void>
}

/**
 * Data parallelism on two threads. The second thread computes the second half of the rows. Until it has
 * started, this thread computes both halves, with bit-identical results.
 *
 * @param program its outputs are `metrics`, one number each, and the gradients, named `g:` plus the parameter
 * @param rows the symbol of the axis that is split, which is the first axis of some inputs
 */
export function createDataParallelSplit(
  program: SizedProgram,
  inputs: Readonly<Record<string, InputSpec>>,
  rows: string,
  gradient: ParameterSet,
  metrics: readonly string[],
): DataParallelSplit {
  const halved = Object.keys(inputs).filter((name) => inputs[name].shape[0] === rows)
  const into = parameterFeeds(gradient, 'g:')
  const shared = sharedArray(gradient.data.length)
  const given = shared === null ? null : zeroParameters(gradient.shapes, shared)
  const own = zeroParameters(gradient.shapes)
  const ownInto = parameterFeeds(own, 'g:')
  const numbers: Record<string, HostTensor> = Object.fromEntries(
    metrics.map((name) => [name, { data: sharedArray(1) ?? new Float32Array(1), shape: [] }]),
  )
  let helper: Helper | null | undefined

  function half(feeds: Feeds, which: 0 | 1): Feeds {
    const parts: Record<string, HostTensor> = { ...feeds }
    for (const name of halved) {
      const { data, shape } = feeds[name]
      const size = data.length / 2
      parts[name] = {
        data: data.subarray(which * size, (which + 1) * size),
        shape: [shape[0] / 2, ...shape.slice(1)],
      }
    }
    return parts
  }

  return {
    divides(feeds) {
      const [count] = feeds[halved[0]].shape
      return count >= fewest && count % 2 === 0
    },
    async evaluate(feeds) {
      const [first, second] = [half(feeds, 0), half(feeds, 1)]
      if (helper === undefined)
        helper =
          given === null
            ? null
            : createHelper(program.job(second), second, { ...numbers, ...parameterFeeds(given, 'g:') })
      const started = helper?.start(second) ?? false
      const found = await program.run(first, into)
      let [other, otherGradient] = [numbers, given?.data]
      if (!started || helper?.finish() !== true) {
        other = await program.run(second, ownInto)
        otherGradient = own.data
      }
      average(gradient.data, otherGradient!)
      for (const name of metrics) average(found[name].data as Float32Array, other[name].data as Float32Array)
      return found
    },
    dispose: async () => helper?.dispose(),
  }
}

/** In place. */
function average(a: Float32Array, b: Float32Array): void {
  for (let i = 0; i < a.length; i++) a[i] = 0.5 * (a[i] + b[i])
}
