import { createRandom } from 'agoge/engine'
import type { Random } from 'agoge/engine'
import { average, gaussianProcess } from 'agoge/statistics'

/** Tasks of a batch, and examples of a task. */
export const [tasks, examples] = [10, 10]
/** Of the points of a batch. */
export const shape = [tasks, examples, 1]

/** Sines of random amplitude and phase: examples for adaptation, and others for evaluation. */
export function sines(random: Random) {
  const waves = Array.from({ length: tasks }, () => [0.1 + 4.9 * random.next(), Math.PI * random.next()])
  const points = () => {
    const x = Float32Array.from({ length: tasks * examples }, () => 10 * random.next() - 5)
    const y = x.map((value, k) => {
      const [amplitude, phase] = waves[Math.floor(k / examples)]
      return amplitude * Math.sin(value - phase)
    })
    return [
      { data: x, shape },
      { data: y, shape },
    ]
  }
  const [[x, y], [otherX, otherY]] = [points(), points()]
  return { x, y, otherX, otherY }
}

/** Gaussian process regression on the examples of a task, which learns nothing from other tasks. */
export function processError(seed: number, batches: number, length: number): number {
  const random = createRandom('unseen tasks', seed)
  const squares: number[] = []
  for (let k = 0; k < batches; k++) {
    const { x, y, otherX, otherY } = sines(random)
    for (let task = 0; task < tasks; task++) {
      const own = ({ data }: typeof x): number[] =>
        Array.from(data.subarray(task * examples, (task + 1) * examples))
      const rows = (from: typeof x): number[][] => own(from).map((value) => [value])
      const at = gaussianProcess(rows(x), own(y), { length, deviation: 2 })
      const wanted = own(otherY)
      squares.push(...rows(otherX).map((point, i) => (at(point).mean - wanted[i]) ** 2))
    }
  }
  return average(squares)
}
