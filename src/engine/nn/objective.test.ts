import { expect, test } from 'vitest'
import { createRandom } from '../random/index.ts'
import { matmul, mean, relu, square, sub } from '../tensor/index.ts'
import { compileObjective } from './objective.ts'
import { createParameters } from './parameters.ts'

const waiting = () => new Promise((resolve) => setTimeout(resolve, 20))

// Kernels of its own, and the runtime.
test.each([16, 192])('two threads compute the mean over both halves, width %d', async (width) => {
  const random = createRandom('halves', width)
  const draw = (length: number): Float32Array => Float32Array.from({ length }, () => random.normal())
  const parameters = createParameters(
    {
      first: { shape: [3, width], initialise: () => draw(3 * width) },
      second: { shape: [width, width], initialise: () => draw(width * width) },
    },
    random,
  )
  const compiled = (threads: number) =>
    compileObjective({
      threads,
      meanOver: 'B',
      parameters: parameters.shapes,
      inputs: { x: { shape: ['B', 3] }, scale: { shape: [1] } },
      trace({ first, second }, { x, scale }) {
        const y = matmul(relu(matmul(x, first)), second)
        return { loss: mean(square(sub(y, scale))), outputs: { average: mean(y) } }
      },
    })
  const [one, two] = [await compiled(1), await compiled(2)]
  const feeds = (rows: number) => ({
    x: { data: draw(rows * 3), shape: [rows, 3] },
    scale: { data: draw(1), shape: [1] },
  })
  const given = feeds(64)
  const alone = await two.evaluate(parameters, given)
  const gradient = two.gradient.data.slice()
  // By now or soon there is a second thread.
  for (let k = 0; k < 40; k++) {
    expect(await two.evaluate(parameters, given)).toEqual(alone)
    expect(Buffer.from(two.gradient.data.buffer).equals(Buffer.from(gradient.buffer))).toBe(true)
    await waiting()
  }
  // Also for rows that cannot be halved, that are too few, and that are more than before.
  for (const rows of [64, 65, 32, 128]) {
    const other = feeds(rows)
    const [wanted, found] = [await one.evaluate(parameters, other), await two.evaluate(parameters, other)]
    expect(found.loss / wanted.loss).toBeCloseTo(1, 5)
    expect(found.outputs.average.data[0]).toBeCloseTo(wanted.outputs.average.data[0], 4)
    const scale = Math.max(...one.gradient.data.map(Math.abs))
    const errors = one.gradient.data.map((value, i) => Math.abs(two.gradient.data[i] - value))
    expect(Math.max(...errors) / scale).toBeLessThan(1e-5)
  }
  await one.dispose()
  await two.dispose()
})
