import { defined } from '../../defined.ts'
import { add, compile, matmul, mul } from '../../engine/tensor/index.ts'
import type { HostTensor, Program } from '../../engine/tensor/index.ts'
import type { ParameterEntry, Parameters } from '../model/parameters.ts'
import { adaptedModules, loraScale } from './lora.ts'
import type { Adapter } from './lora.ts'

/** Links an adapter to the live weights. The model's programs do not know the adapter; they use effective weights. */
export interface LoraPrograms {
  /** Writes base + scale * B A into the weights. */
  merge(): Promise<void>
  /** Adjusts the base to weights written from outside: the base becomes the weights minus scale * B A. */
  rebase(): Promise<void>
  /** Gradient of A and B from that of the weights, by the chain rule: dA = scale B^T dW, dB = scale dW A^T. */
  gradient(dense: Float32Array): Promise<Float32Array>
  release(): Promise<void>
}

/** Compiled at first use; one program serves matrices of all shapes. */
export function createLoraPrograms(adapter: Adapter, parameters: Parameters, threads?: number): LoraPrograms {
  const modules = adaptedModules(adapter, parameters.layout)
  const scale = loraScale(adapter.settings)
  const own = new Float32Array(adapter.layout.size)
  const made = new Map<string, Promise<Program>>()
  const program = (name: string, compiled: () => Promise<Program>): Promise<Program> => {
    let found = made.get(name)
    if (found === undefined) made.set(name, (found = compiled()))
    return found
  }
  const options = (name: string) => ({ name, ...defined({ threads }) })
  const factors = { a: { shape: ['R', 'I'] }, b: { shape: ['O', 'R'] }, scale: { shape: [1] } }
  const part = (array: Float32Array, { shape, offset, size }: ParameterEntry): HostTensor => ({
    data: array.subarray(offset, offset + size),
    shape,
  })

  /** result = from + factor * B A for every module. */
  async function addProducts(factor: number, from: 'base' | 'weights'): Promise<void> {
    const run = await program('lora-merge', () =>
      compile(
        { from: { shape: ['O', 'I'] }, ...factors },
        (inputs) => ({
          result: add(inputs['from'], mul(matmul(inputs['b'], inputs['a']), inputs['scale'])),
        }),
        options('lora-merge'),
      ),
    )
    for (const { weight, a, b, base } of modules) {
      const places = {
        weights: part(parameters.data, weight),
        base: { data: adapter.base.subarray(base, base + weight.size), shape: weight.shape },
      }
      await run.run(
        {
          from: places[from],
          a: part(adapter.data, a),
          b: part(adapter.data, b),
          scale: { data: Float32Array.of(factor), shape: [1] },
        },
        { result: from === 'base' ? places.weights : places.base },
      )
    }
  }

  return {
    merge: () => addProducts(scale, 'base'),
    rebase: () => addProducts(-scale, 'weights'),
    async gradient(dense) {
      const run = await program('lora-gradient', () =>
        compile(
          { dense: { shape: ['O', 'I'] }, ...factors },
          (inputs) => ({
            a: mul(matmul(inputs['b'], inputs['dense'], { transposeA: true }), inputs['scale']),
            b: mul(matmul(inputs['dense'], inputs['a'], { transposeB: true }), inputs['scale']),
          }),
          options('lora-gradient'),
        ),
      )
      for (const { weight, a, b } of modules)
        await run.run(
          {
            dense: part(dense, weight),
            a: part(adapter.data, a),
            b: part(adapter.data, b),
            scale: { data: Float32Array.of(scale), shape: [1] },
          },
          { a: part(own, a), b: part(own, b) },
        )
      return own
    },
    async release() {
      const all = await Promise.all(made.values())
      made.clear()
      await Promise.all(all.map((each) => each.release()))
    },
  }
}
