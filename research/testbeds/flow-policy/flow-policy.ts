import { createRandom, normalValues } from 'agoge/engine'

/** Sizes of an action and of a state with a 1, spread of the demonstrations, and the distance that succeeds. */
export const [size, states, deviation, tolerance] = [4, 3, 0.2, 0.45]
/** Inner product, over the length of the second. */
export const dot = (a: ArrayLike<number>, b: ArrayLike<number>): number => {
  let total = 0
  for (let k = 0; k < b.length; k++) total += a[k] * b[k]
  return total
}

/** Demonstrations reach for one of two places in four dimensions, which move with the state. The task is near one of them. */
export function reach(seed: number) {
  const random = createRandom('reach', seed)
  const unit = (length: number): Float32Array => {
    const values = normalValues(random, size, 1)
    return values.map((value) => (length * value) / Math.hypot(...values))
  }
  const [middle, error] = [unit(1), unit(0.2)]
  const moves = Array.from({ length: size }, () => normalValues(random, states - 1, 0.3))
  const modes = (state: number[]) =>
    [1, -1].map((sign) => moves.map((row, k) => sign * middle[k] + dot(row, state.slice(1))))
  const succeeds = (state: number[], action: ArrayLike<number>): number =>
    Number(Math.hypot(...modes(state)[0].map((value, k) => value + error[k] - action[k])) < tolerance)
  return { modes, succeeds }
}
type Modes = number[][]

/** Ten steps along the flow from noise to the mixture of both modes, whose velocity is exact: the frozen base policy. */
export function denoise(modes: Modes, noise: ArrayLike<number>): number[] {
  let x = Array.from(noise)
  for (let step = 0; step < 10; step++) {
    const t = step / 10
    const variance = (1 - t) ** 2 + (t * deviation) ** 2
    const logits = modes.map(
      (mode) => -x.reduce((sum, value, k) => sum + (value - t * mode[k]) ** 2, 0) / (2 * variance),
    )
    const second = 1 / (1 + Math.exp(logits[0] - logits[1]))
    const pull = (t * deviation ** 2 - (1 - t)) / variance
    x = x.map((value, k) => {
      const speed = modes.map((mode) => mode[k] + pull * (value - t * mode[k]))
      return value + ((1 - second) * speed[0] + second * speed[1]) / 10
    })
  }
  return x
}
