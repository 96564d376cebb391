import type { ForwardBackwardOutput, SampleResponse } from '../../../backend/tinker/index.ts'
import { asBytes, bytesField, doubleField, join, numberField, textField } from './write-message.ts'
import type { Part } from './write-message.ts'

const float32 = 1

/** `tinker_public.SampleResponse`; log-probabilities that there are not are NaN. */
export function writeSampleResponse({
  sequences,
  prompt_logprobs: prompt,
}: SampleResponse): Uint8Array<ArrayBuffer> {
  return join([
    ...sequences.flatMap(({ stop_reason: reason, tokens, logprobs }) =>
      bytesField(1, [
        ...numberField(1, reason === 'length' ? 1 : 0),
        ...bytesField(2, [asBytes(Int32Array.from(tokens))]),
        ...(logprobs == null ? [] : bytesField(3, [asBytes(Float32Array.from(logprobs))])),
      ]),
    ),
    ...(prompt == null
      ? []
      : bytesField(2, [asBytes(Float32Array.from(prompt, (value) => value ?? Number.NaN))])),
  ])
}

/** The values of one field of all datums in a row, with the bytes at which each begins, and the end. */
function batchedTensor(values: readonly ArrayLike<number>[]): Part[] {
  const data = new Float32Array(values.reduce((sum, each) => sum + each.length, 0))
  const offsets = new BigInt64Array(values.length + 1)
  let at = 0
  for (const [i, each] of values.entries()) {
    data.set(each, at)
    at += each.length
    offsets[i + 1] = BigInt(4 * at)
  }
  return [...bytesField(1, [asBytes(data)]), ...bytesField(2, [asBytes(offsets)]), ...numberField(3, float32)]
}

/** `tinker_public.ForwardBackwardOutput`, of outputs that are float32 and have one value a token. */
export function writeForwardBackwardOutput(output: ForwardBackwardOutput): Uint8Array<ArrayBuffer> {
  const { loss_fn_outputs: outputs } = output
  const names = [...new Set(outputs.flatMap((datum) => Object.keys(datum)))]
  const record = [
    ...names.flatMap((name) =>
      bytesField(2, [
        ...textField(1, name),
        ...bytesField(2, batchedTensor(outputs.map((datum) => datum[name]?.data ?? []))),
      ]),
    ),
    ...numberField(3, outputs.length),
  ]
  return join([
    ...textField(1, output.loss_fn_output_type),
    ...(outputs.length === 0 ? [] : bytesField(2, record)),
    ...Object.entries(output.metrics).flatMap(([name, value]) =>
      bytesField(3, [...textField(1, name), ...doubleField(2, value)]),
    ),
  ])
}
