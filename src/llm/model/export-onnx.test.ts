import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { InferenceSession, Tensor } from 'onnxruntime-node'
import { expect, test } from 'vitest'
import { readCheckpoint } from '../checkpoint/checkpoint.ts'
import { exportOnnx } from './export-onnx.ts'

// With the logits of transformers, see golden/make_checkpoints.py.
test.each(['llama3', 'qwen2', 'qwen3'])(
  '%s: the exported file alone gives the logits of transformers',
  async (family) => {
    const folder = fileURLToPath(new URL(`../golden/checkpoints/${family}`, import.meta.url))
    const { tokens, logits } = JSON.parse(readFileSync(join(folder, 'expected.json'), 'utf8')) as {
      tokens: number[][]
      logits: number[]
    }
    const session = await InferenceSession.create(exportOnnx(await readCheckpoint(folder)))
    expect([session.inputNames, session.outputNames]).toEqual([['input_ids'], ['logits']])
    const run = async (rows: number[][]) => {
      const shape = [rows.length, rows[0].length]
      const { logits: given } = await session.run({
        input_ids: new Tensor('int32', Int32Array.from(rows.flat()), shape),
      })
      expect(given.dims.slice(0, 2)).toEqual(shape)
      return given.data as Float32Array
    }
    const all = await run(tokens)
    expect(Math.max(...logits.map((value, i) => Math.abs(value - all[i])))).toBeLessThan(1e-4)
    // Another size through the same session: the beginning of one row says the same as in the whole.
    const part = await run([tokens[0].slice(0, 5)])
    expect(Math.max(...part.map((value, i) => Math.abs(value - all[i])))).toBeLessThan(1e-4)
    await session.release()
  },
)
