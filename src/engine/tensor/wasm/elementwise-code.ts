import type { Tensor } from '../node.ts'
import { type Code, i32, int, type Local, repeat, v128, vector, type WasmFunction } from './assembler.ts'

interface EmitContext {
  /** A local variable with a vector of four numbers. */
  fresh: () => Local
  /** The number four times. Made before the loop, because inside it a constant costs more than an addition. */
  constant: (value: number) => Code
}

/** Code of an operator for four numbers at a time. Booleans are the numbers 0 and 1. */
type Emit = (inputs: readonly Local[], context: EmitContext, node: Tensor) => Code

/** Converts a mask of all bits or none to 1 or 0. */
const flag = (mask: Code, { constant }: EmitContext): Code => vector.and(mask, constant(1))
const isZero = (x: Local, { constant }: EmitContext): Code => vector.equal(x.get, constant(0))

/** c[0] + x (c[1] + x (c[2] + ...)). */
const polynomial = (x: Local, coefficients: readonly number[], { constant }: EmitContext): Code =>
  coefficients
    .slice(0, -1)
    .reduceRight<Code>(
      (sum, c) => vector.add(vector.mul(sum, x.get), constant(c)),
      constant(coefficients.at(-1)!),
    )

const clamped = (x: Code, low: number, high: number, { constant }: EmitContext): Code =>
  vector.min(vector.max(x, constant(low)), constant(high))

/**
 * Exponential with a relative error of at most 3e-7: 2^n e^r with |r| <= ln(2) / 2, and e^r by a least-squares
 * fit. Infinity from 88.4 on, 0 up to -88.
 */
function exp(x: Code, context: EmitContext): Code {
  const { fresh, constant } = context
  const [y, n, r] = [fresh(), fresh(), fresh()]
  // ln 2 as two parts. The first has few bits, so that n times it is exact.
  const reduced = vector.sub(y.get, vector.mul(n.get, constant(0.693359375)))
  const series = [1, 1, 0.4999999149, 0.166664207, 0.04166835883, 0.008374782743, 0.001382941245]
  return [
    y.set(clamped(x, -88, 89, context)),
    n.set(vector.nearest(vector.mul(y.get, constant(Math.LOG2E)))),
    r.set(vector.sub(reduced, vector.mul(n.get, constant(Math.LN2 - 0.693359375)))),
    vector.mul(polynomial(r, series, context), vector.powerOfTwo(vector.add(n.get, constant(127)))),
  ]
}

/**
 * Logarithm with an absolute or relative error of at most 3e-7: 2 artanh(f / (2 + f)) for 1 + f between
 * sqrt(1/2) and sqrt(2).
 */
function log(x: Code, context: EmitContext): Code {
  const { fresh, constant } = context
  const [y, n, f, s, square] = [fresh(), fresh(), fresh(), fresh(), fresh()]
  const isUpper = vector.greater(f.get, constant(Math.SQRT2))
  const series = [2, 2 / 3, 2 / 5, 2 / 7, 2 / 9]
  const found = vector.add(
    vector.mul(s.get, polynomial(square, series, context)),
    vector.mul(n.get, constant(Math.LN2)),
  )
  const ofZeroOrLess = vector.select(constant(-Infinity), constant(NaN), vector.equal(y.get, constant(0)))
  return [
    y.set(x),
    n.set(vector.exponent(y.get)),
    f.set(vector.fraction(y.get)),
    n.set(vector.add(n.get, vector.and(isUpper, constant(1)))),
    f.set(vector.mul(f.get, vector.select(constant(0.5), constant(1), isUpper))),
    s.set(vector.div(vector.sub(f.get, constant(1)), vector.add(f.get, constant(1)))),
    square.set(vector.mul(s.get, s.get)),
    n.set(vector.select(found, ofZeroOrLess, vector.greater(y.get, constant(0)))),
    vector.select(y.get, n.get, vector.equal(y.get, constant(Infinity))),
  ]
}

/** Hyperbolic tangent with a relative error of at most 5e-7, never beyond 1: x P(x^2) / Q(x^2), fitted by least squares. */
function tanh(x: Code, context: EmitContext): Code {
  const [y, square] = [context.fresh(), context.fresh()]
  const above = [0.999999855, 0.129257043, 0.00295106667, 1.14288514e-5]
  const below = [1, 0.462589201, 0.0238157337, 0.000238675023, 2.45934059e-7]
  return [
    y.set(clamped(x, -8, 8, context)),
    square.set(vector.mul(y.get, y.get)),
    vector.div(vector.mul(y.get, polynomial(square, above, context)), polynomial(square, below, context)),
  ]
}

const sigmoid = (x: Local, context: EmitContext): Code =>
  vector.div(context.constant(1), vector.add(context.constant(1), exp(vector.neg(x.get), context)))

function cast(x: Local, context: EmitContext, node: Tensor): Code {
  if (node.dtype === 'bool') return vector.sub(context.constant(1), flag(isZero(x, context), context))
  return node.dtype === 'int32' && node.inputs[0].dtype === 'float32' ? vector.truncate(x.get) : x.get
}

const binary =
  (f: (a: Code, b: Code) => Code): Emit =>
  ([a, b]) =>
    f(a.get, b.get)
const comparison =
  (f: (a: Code, b: Code) => Code): Emit =>
  ([a, b], context) =>
    flag(f(a.get, b.get), context)
const unary =
  (f: (a: Code, context: EmitContext) => Code): Emit =>
  ([a], context) =>
    f(a.get, context)

/** Code by name of the operator. Operators that are missing here are not elementwise, or rare. */
export const elementwiseCode: Readonly<Record<string, Emit>> = {
  add: binary(vector.add),
  sub: binary(vector.sub),
  mul: binary(vector.mul),
  div: binary(vector.div),
  maximum: binary(vector.max),
  minimum: binary(vector.min),
  equal: comparison(vector.equal),
  less: comparison(vector.less),
  greater: comparison(vector.greater),
  and: binary(vector.mul),
  not: unary((x, { constant }) => vector.sub(constant(1), x)),
  neg: unary(vector.neg),
  abs: unary(vector.abs),
  sign: ([x], context) =>
    vector.sub(
      flag(vector.greater(x.get, context.constant(0)), context),
      flag(vector.less(x.get, context.constant(0)), context),
    ),
  sqrt: unary(vector.sqrt),
  rsqrt: unary((x, { constant }) => vector.div(constant(1), vector.sqrt(x))),
  square: ([x]) => vector.mul(x.get, x.get),
  relu: unary((x, { constant }) => vector.max(x, constant(0))),
  exp: unary(exp),
  log: unary(log),
  tanh: unary(tanh),
  sigmoid: ([x], context) => sigmoid(x, context),
  silu: ([x], context) => vector.mul(x.get, sigmoid(x, context)),
  where: ([condition, a, b], context) => vector.select(b.get, a.get, isZero(condition, context)),
  // Only for single numbers. Other broadcasts are not elementwise.
  broadcastTo: unary((x) => x),
  cast: ([x], context, node) => cast(x, context, node),
}

const { add, mul, load, store } = vector
const onward = (pointer: Local): Code => pointer.add(int.constant(16))
const countdown = (left: Local): Code => left.tee(int.sub(left.get, int.constant(1)))

/** `add(target, source, vectors)`: adds the source to the target. */
export const addKernel: WasmFunction = {
  name: 'add',
  parameters: [i32, i32, i32],
  code: ([target, source, vectors]) =>
    repeat(
      [store(target.get, add(load(target.get), load(source.get))), onward(target), onward(source)],
      countdown(vectors),
    ),
}

/** `foldRows(target, source, row, width, rows)`: multiplies every row of the source, of `width` vectors, by the row. */
export const foldRows: WasmFunction = {
  name: 'foldRows',
  parameters: [i32, i32, i32, i32, i32],
  code: ([target, source, row, width, rows], builder) => {
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
 * `unfoldRows(gradient, sum, weights, row, ofRow, width, rows)`, the gradient of `foldRows`: adds the sum times
 * the row to `gradient`, and the sum times the weights, over all rows, to `ofRow`.
 */
export const unfoldRows: WasmFunction = {
  name: 'unfoldRows',
  parameters: [i32, i32, i32, i32, i32, i32, i32],
  code: ([gradient, sum, weights, row, ofRow, width, rows], builder) => {
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
