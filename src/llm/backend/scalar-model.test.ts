import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readCheckpoint } from '../checkpoint/checkpoint.ts'
import { createScalarModel, loadScalarModel } from './scalar-model.ts'
import { tinyConfig } from '../testing/tiny-model.ts'

// Made by golden/make_scalar.py with transformers' sequence classifier.
const golden = JSON.parse(readFileSync(new URL('../golden/scalar.json', import.meta.url), 'utf8')) as {
  score: number[]
  tokens: number[][]
  slopes: number[][]
  values: number[][]
  gradientNorms: Record<string, number>
}
const folder = new URL('../golden/checkpoints/llama3', import.meta.url).pathname
const tokens = golden.tokens.map((row) => Int32Array.from(row))
const gradients = golden.slopes.map((row) => Float32Array.from(row))

test('values and gradients are those of transformers', async () => {
  const model = createScalarModel({ ...(await readCheckpoint(folder)), threads: 1, tokenBudget: 8 })
  const { layout, data } = model.parameters
  const head = layout.entries.at(-1)!
  data.set(golden.score, head.offset)
  const values = await model.values(tokens)
  values.forEach((row, i) => row.forEach((x, t) => expect(x).toBeCloseTo(golden.values[i][t], 4)))
  await model.backward(tokens, gradients)
  for (const { name, offset, size } of layout.entries) {
    const norm = Math.hypot(...model.gradient.subarray(offset, offset + size))
    expect(norm / golden.gradientNorms[name], name).toBeCloseTo(1, 3)
  }
  await model.dispose()
})

test('a tiny scalar model starts at zero, learns a number per token, and can be saved and loaded', async () => {
  const model = createScalarModel({ config: tinyConfig, seed: 1, threads: 1 })
  const rows = [Int32Array.of(3, 9, 4), Int32Array.of(7, 2)]
  const wanted = [
    [1, -0.5, 2],
    [0, 0.75],
  ]
  expect((await model.values(rows)).every((row) => row.every((value) => value === 0))).toBe(true)
  for (let step = 0; step < 120; step++) {
    const values = await model.values(rows)
    await model.backward(
      rows,
      values.map((row, i) => row.map((value, t) => value - wanted[i][t])),
    )
    await model.optimStep({ learningRate: 0.01 })
  }
  const learnt = await model.values(rows)
  learnt.forEach((row, i) =>
    row.forEach((value, t) => expect(Math.abs(value - wanted[i][t])).toBeLessThan(0.05)),
  )

  const kept = mkdtempSync(join(tmpdir(), 'agoge-scalar-'))
  await model.save(kept)
  const again = await loadScalarModel(kept, { threads: 1 })
  expect(await again.values(rows)).toEqual(learnt)
  await model.dispose()
  await again.dispose()
  rmSync(kept, { recursive: true })
})

test('mismatched inputs are refused with a reason', async () => {
  const model = createScalarModel({ config: tinyConfig, threads: 1 })
  await expect(model.backward([Int32Array.of(1, 2)], [new Float32Array(3)])).rejects.toThrow(/do not match/)
  await expect(model.values([Int32Array.of(64)])).rejects.toThrow(/outside the vocabulary/)
  await expect(loadScalarModel(folder)).rejects.toThrow(/no model of values/)
  await expect(model.load(folder)).rejects.toThrow(/no model of values/)
  await model.dispose()
})
