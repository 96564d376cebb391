import { assembly } from '../../../engine/tensor/index.ts'

/** An episode ends beyond this position, in m. */
export const positionLimit = 2.4
/** An episode ends beyond this angle, in rad: 12 degrees, computed as Gymnasium does. */
export const angleLimit = (12 * 2 * Math.PI) / 360
/** Seconds per step. */
export const timeStep = 0.02

/** Angle in rad up to which the polynomials below are as accurate as `Math.sin` and `Math.cos`. */
export const polynomialLimit = 0.29

/**
 * Coefficients of fdlibm (Sun Microsystems 1993), which most platforms use, so that results equal the reference
 * to the last bit. The sine has odd powers from x^3 on, the cosine even powers from x^4 on.
 */
const sinTerms = [
  -1.66666666666666324348e-1, 8.33333333332248946124e-3, -1.98412698298579493134e-4,
  2.75573137070700676789e-6, -2.50507602534068634195e-8, 1.58969099521155010221e-10,
] as const
const cosTerms = [
  4.16666666666666019037e-2, -1.38888888888741095749e-3, 2.48015872894767294178e-5,
  -2.75573143513906633035e-7, 2.0875723212981748279e-9, -1.13596475577881948265e-11,
] as const
const [s1, s2, s3, s4, s5, s6] = sinTerms
const [c1, c2, c3, c4, c5, c6] = cosTerms

/** Returns the sine of a small angle. `x` is the angle, `z` its square. */
export const polynomialSine = (x: number, z: number): number =>
  x + z * x * (s1 + z * (s2 + z * (s3 + z * (s4 + z * (s5 + z * s6)))))

/** Returns the cosine of a small angle. `z` is the square of the angle. */
export const polynomialCosine = (z: number): number =>
  1 - (0.5 * z - z * (z * (c1 + z * (c2 + z * (c3 + z * (c4 + z * (c5 + z * c6)))))))

type Code = assembly.Code
const { doubles, int, i32, v128, vector, ifElse, repeat } = assembly

/** The value of `terminated` for an environment that the kernel skipped. */
const skipped = 2

/**
 * `step(state, context, columnBytes, actions, observations, rewards, terminated, pairs, leftSome)`: a step of
 * CartPole for two environments at a time, with the same operations in the same order as for one. Addresses are
 * in bytes.
 */
export const cartPoleKernel: assembly.WasmFunction = {
  name: 'step',
  parameters: Array.from({ length: 9 }, () => i32),
  code: (
    [state, context, columnBytes, actions, observations, rewards, terminated, pairs, leftSome],
    builder,
  ) => {
    const { add, sub, mul, div, neg, abs, constant, load, store, shuffle, greater, select } = doubles
    const local = (): assembly.Local => builder.local(v128)
    const [a, b, x, velocity, angle, angularVelocity] = Array.from({ length: 6 }, local)
    const [gravity, cartMass, poleMass, halfLength, forceSize] = Array.from({ length: 5 }, local)
    const [totalMass, poleMassLength, angleSquared] = Array.from({ length: 3 }, local)
    const [sin, cos, push, angularAcceleration] = Array.from({ length: 4 }, local)
    const [newX, newAngle] = [local(), local()]
    const over = builder.local(i32)
    /** Addresses of the features of the current pair. */
    const columns = Array.from({ length: 5 }, () => builder.local(i32))

    /** Loads two numbers of each environment, `size` bytes apart, as one vector for each number. */
    const readPair = (from: assembly.Local, size: number, offset: number, to: assembly.Local[]): Code => [
      a.set(load(from.get, offset)),
      b.set(load(from.get, offset + size)),
      to.map((each, i) => each.set(shuffle(a.get, b.get, [i, i + 2]))),
    ]
    const z = angleSquared.get
    const horner = (terms: readonly number[]): Code =>
      terms
        .slice(0, -1)
        .reduceRight<Code>((sum, term) => add(constant(term), mul(z, sum)), constant(terms.at(-1)!))
    const force = select(
      forceSize.get,
      neg(forceSize.get),
      doubles.masks(vector.equal(doubles.loadFirst(actions.get), vector.constant(1))),
    )
    const dynamics: Code = [
      [gravity, cartMass, poleMass, halfLength, forceSize].map((each, k) => each.set(load(columns[k].get))),
      totalMass.set(add(poleMass.get, cartMass.get)),
      poleMassLength.set(mul(poleMass.get, halfLength.get)),
      angleSquared.set(mul(angle.get, angle.get)),
      cos.set(sub(constant(1), sub(mul(constant(0.5), z), mul(z, mul(z, horner(cosTerms)))))),
      sin.set(add(angle.get, mul(mul(z, angle.get), horner(sinTerms)))),
      push.set(
        div(
          add(force, mul(mul(poleMassLength.get, mul(angularVelocity.get, angularVelocity.get)), sin.get)),
          totalMass.get,
        ),
      ),
      angularAcceleration.set(
        div(
          sub(mul(gravity.get, sin.get), mul(cos.get, push.get)),
          mul(
            halfLength.get,
            sub(constant(4 / 3), div(mul(poleMass.get, mul(cos.get, cos.get)), totalMass.get)),
          ),
        ),
      ),
      newX.set(add(x.get, mul(constant(timeStep), velocity.get))),
      newAngle.set(add(angle.get, mul(constant(timeStep), angularVelocity.get))),
      velocity.set(
        add(
          velocity.get,
          mul(
            constant(timeStep),
            sub(push.get, div(mul(mul(poleMassLength.get, angularAcceleration.get), cos.get), totalMass.get)),
          ),
        ),
      ),
      angularVelocity.set(add(angularVelocity.get, mul(constant(timeStep), angularAcceleration.get))),
      [0, 1].map((envIndex) => [
        a.set(shuffle(newX.get, velocity.get, [envIndex, envIndex + 2])),
        b.set(shuffle(newAngle.get, angularVelocity.get, [envIndex, envIndex + 2])),
        store(state.get, a.get, envIndex * 32),
        store(state.get, b.get, envIndex * 32 + 16),
        vector.store(
          observations.get,
          shuffle(doubles.single(a.get), doubles.single(b.get), [0, 2]),
          envIndex * 16,
        ),
      ]),
      store(rewards.get, constant(1)),
      over.set(
        doubles.bits(
          doubles.or(
            greater(abs(newX.get), constant(positionLimit)),
            greater(abs(newAngle.get), constant(angleLimit)),
          ),
        ),
      ),
      // Turns one bit for each environment into a byte.
      int.store16(
        terminated.get,
        int.and(int.or(over.get, int.shiftLeft(over.get, int.constant(7))), int.constant(0x101)),
      ),
    ]
    const eachColumn = columns.map((column, k) =>
      column.set(k === 0 ? context.get : int.add(columns[k - 1].get, columnBytes.get)),
    )
    const everyPair = repeat(
      [
        readPair(state, 32, 0, [x, velocity]),
        readPair(state, 32, 16, [angle, angularVelocity]),
        ifElse(doubles.both(doubles.notGreater(abs(angle.get), constant(polynomialLimit))), dynamics, [
          int.store16(terminated.get, int.constant(skipped * 0x101)),
          int.store(leftSome.get, int.constant(1)),
        ]),
        [
          [state, 64] as const,
          ...columns.map((column) => [column, 16] as const),
          [actions, 8] as const,
          [observations, 32] as const,
          [rewards, 16] as const,
          [terminated, 2] as const,
        ].map(([pointer, bytes]) => pointer.add(int.constant(bytes))),
      ],
      pairs.tee(int.sub(pairs.get, int.constant(1))),
    )
    return [eachColumn, everyPair]
  },
}
