import { expect, test } from 'vitest'
import * as t from './index.ts'
import type { Tensor } from './index.ts'

// Values of PyTorch 2.13 in float64; every input is sin(0.7 i + 0.3), row-major.

function wave(...shape: number[]) {
  const length = shape.reduce((a, b) => a * b, 1)
  return { data: Float32Array.from({ length }, (_, i) => Math.sin(0.7 * i + 0.3)), shape }
}

async function run(
  feeds: Record<string, t.HostTensor>,
  build: (inputs: Record<string, Tensor>) => Record<string, Tensor>,
): Promise<Record<string, number[]>> {
  const inputs = Object.fromEntries(
    Object.entries(feeds).map(([name, { shape, data }]) => [
      name,
      { shape, dtype: data instanceof Int32Array ? ('int32' as const) : ('float32' as const) },
    ]),
  )
  const program = await t.compile(inputs, build)
  const results = await program.run(feeds)
  await program.release()
  return Object.fromEntries(Object.entries(results).map(([name, { data }]) => [name, [...data]]))
}

function expectClose(actual: readonly number[], expected: readonly number[]): void {
  expect(actual).toHaveLength(expected.length)
  actual.forEach((value, i) => expect(value).toBeCloseTo(expected[i], 5))
}

test('rms_norm, linear, silu and tanh', async () => {
  const { z, dx, dw } = await run({ x: wave(2, 2, 3), w: wave(2, 3) }, ({ x, w }) => {
    const normal = t.mul(x, t.rsqrt(t.add(t.mean(t.square(x), { axes: [-1], keepDims: true }), 1e-5)))
    const y = t.matmul(normal, w, { transposeB: true })
    const z = t.mul(t.silu(y), t.tanh(y))
    const [dx, dw] = t.gradients(t.sum(z), [x, w])
    return { z, dx, dw }
  })
  expectClose(z, [2.060462, 0.082759, 0.1420289, 1.2037071, 0.2429001, 0.1120806, 2.0602492, 0.0776959])
  expectClose(
    dx,
    [
      -0.2558946, -0.0755139, 0.1403822, -0.2868344, -0.4129405, -0.3448343, -0.1700455, 0.0705301, 0.2779343,
      -0.2738833, -0.0785145, 0.1537808,
    ],
  )
  expectClose(dw, [0.5339916, 2.4719826, 3.2473616, 1.6253443, -0.1908309, -1.9172553])
})

test('scaled_dot_product_attention with a causal mask', async () => {
  const { o, dq, dk, dv } = await run({ x: wave(1, 2, 3, 2) }, ({ x }) => {
    const [q, k, v] = [x, t.mul(x, 0.5), t.add(x, 0.1)]
    const later = t.less(t.reshape(t.iota(3), [3, 1]), t.iota(3))
    const scores = t.mul(t.matmul(q, k, { transposeB: true }), 1 / Math.sqrt(2))
    const o = t.matmul(t.softmax(t.where(later, -1e9, scores)), v)
    const [dq, dk, dv] = t.gradients(t.sum(t.square(o)), [q, k, v])
    return { o, dq: t.sub(dq, t.add(t.mul(dk, 0.5), dv)), dk, dv }
  })
  expectClose(
    o,
    [
      0.3955202, 0.941471, 0.779047, 0.8500123, 0.5076587, 0.3093076, -0.8775301, -0.7834547, -0.5678832,
      -0.1704758, 0.2914007, 0.584689,
    ],
  )
  // q is x itself, so its gradient holds those through k and v too: they are taken off again above
  expectClose(
    dq,
    [0, 0, 0.0488628, -0.0116522, 0.0981696, 0.1648824, 0, 0, -0.0582813, -0.115374, 0.307549, 0.283023],
  )
  expectClose(
    dk,
    [
      -0.136822, -0.1299777, 0.1471653, -0.0222245, -0.0103434, 0.1522023, -0.2949893, -0.1990327, -0.0224217,
      -0.1702284, 0.317411, 0.3692612,
    ],
  )
  expectClose(
    dv,
    [
      1.7883459, 2.8277022, 1.1700676, 1.1264876, 0.4060384, 0.2473921, -2.2135736, -1.5430424, -0.4102075,
      0.1710024, 0.3157558, 0.6335571,
    ],
  )
})

test('cross entropy under an embedding that is also the head, with a token twice', async () => {
  const tokens = { data: Int32Array.of(1, 3, 1), shape: [3] }
  const targets = { data: Int32Array.of(3, 1, 1), shape: [3] }
  const { loss, de } = await run({ e: wave(4, 3), tokens, targets }, ({ e, tokens, targets }) => {
    const logits = t.matmul(t.gather(e, tokens), e, { transposeB: true })
    const loss = t.neg(t.sum(t.takeAlong(t.logSoftmax(logits), targets)))
    return { loss, de: t.gradients(loss, [e])[0] }
  })
  expectClose(loss, [5.3718229])
  expectClose(
    de,
    [
      0.3596857, 0.4056985, 0.260905, -0.6054361, -1.3618066, -1.4776982, 0.2019237, 0.0278388, -0.1593391,
      -0.6871618, 1.0973952, 2.3658301,
    ],
  )
})

test('gradient of a gradient norm', async () => {
  const { penalty, da } = await run({ a: wave(2, 3) }, ({ a }) => {
    const total = t.log(t.sum(t.exp(a), { axes: [-1] }))
    const [g] = t.gradients(t.sum(t.square(total)), [a])
    const penalty = t.sum(t.sqrt(t.sum(t.square(g), { axes: [-1] })))
    return { penalty, da: t.gradients(penalty, [a])[0] }
  })
  expectClose(penalty, [3.8461312])
  expectClose(da, [0.0616052, 0.4528043, 0.6812712, 1.0131548, 0.2376996, 0.0391036])
})

test('a convolution with bias, stride 2 and padding, and its gradients', async () => {
  const feeds = { x: wave(2, 2, 4, 5), w: wave(2, 2, 3, 2), b: wave(2) }
  const { y, dx, dw, db } = await run(feeds, ({ x, w, b }) => {
    const y = t.relu(t.add(t.conv2d(x, w, { stride: 2, padding: 1 }), t.reshape(b, [2, 1, 1])))
    const [dx, dw, db] = t.gradients(t.sum(t.square(y)), [x, w, b])
    return { y, dx, dw, db }
  })
  expectClose(
    y,
    [
      0.31895, 2.1074696, 2.4305832, 1.5968499, 1.8788515, 0, 1.9658232, 0.9400578, 0, 0.2213572, 0, 0,
      0.6986696, 0, 0, 0, 0, 0.7048424, 0, 0.1542675, 2.7723499, 1.128922, 2.4247237, 2.2935249,
    ],
  )
  expectClose(
    dx.slice(0, 16),
    [
      -3.4258166, 3.0046018, 1.0027627, 4.8206476, 3.2835389, 0.8996391, -0.3602141, -0.0904582, 0.2021305,
      -2.974343, 1.7229521, 3.7263819, 2.5381901, 0, 0, -2.1126836,
    ],
  )
  expectClose(
    dw,
    [
      -2.8117319, -5.3337172, 10.1326084, 10.2919802, -9.310935, -7.5253511, -2.274437, -2.8828781, 0.8833605,
      -4.5587791, 2.7180492, 8.1343203, 7.0896823, 5.1199047, -9.4967676, -2.4400649, 6.2733177, -2.6806587,
      -0.380238, -3.129791, 6.1002676, 13.6893518, -9.3709041, -14.3463718,
    ],
  )
  expectClose(db, [19.4724323, 23.8020525])
})
