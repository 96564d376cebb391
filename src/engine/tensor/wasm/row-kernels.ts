import { i32, int, repeat, v128, vector } from './assembler.ts'
import type { Code, Local, WasmFunction } from './assembler.ts'

const { add, mul, load, store } = vector
const onward = (pointer: Local): Code => pointer.add(int.constant(16))
const countdown = (left: Local): Code => left.tee(int.sub(left.get, int.constant(1)))

/** `add(target, source, vectors)`: adds the source to the target. */
export const addKernel: WasmFunction = {
  name: 'add',
  parameters: [i32, i32, i32],
  body: ([target, source, vectors]) =>
    repeat(
      [store(target.get, add(load(target.get), load(source.get))), onward(target), onward(source)],
      countdown(vectors),
    ),
}

/** `foldRows(target, source, row, width, rows)`: every row of the source, of `width` vectors, times the row. */
export const foldRows: WasmFunction = {
  name: 'foldRows',
  parameters: [i32, i32, i32, i32, i32],
  body: ([target, source, row, width, rows], builder) => {
    const [factor, left] = [builder.local(i32), builder.local(i32)]
    return repeat(
      [
        [factor.set(row.get), left.set(width.get)],
        repeat(
          [store(target.get, mul(load(source.get), load(factor.get))), [target, source, factor].map(onward)],
          countdown(left),
        ),
      ],
      countdown(rows),
    )
  },
}

/**
 * `unfoldRows(gradient, sum, weights, row, ofRow, width, rows)`, the pullback of `foldRows`: the sum times the row is added to the
 * gradient, and the sum times the weights, over all rows, to `ofRow`.
 */
export const unfoldRows: WasmFunction = {
  name: 'unfoldRows',
  parameters: [i32, i32, i32, i32, i32, i32, i32],
  body: ([gradient, sum, weights, row, ofRow, width, rows], builder) => {
    const [factor, derivative, left] = [0, 1, 2].map(() => builder.local(i32))
    const g = builder.local(v128)
    return repeat(
      [
        [factor.set(row.get), derivative.set(ofRow.get), left.set(width.get)],
        repeat(
          [
            g.set(load(sum.get)),
            store(gradient.get, add(load(gradient.get), mul(g.get, load(factor.get)))),
            store(derivative.get, add(load(derivative.get), mul(g.get, load(weights.get)))),
            [gradient, sum, weights, factor, derivative].map(onward),
          ],
          countdown(left),
        ),
      ],
      countdown(rows),
    )
  },
}
