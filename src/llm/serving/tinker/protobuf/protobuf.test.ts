import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readForwardBackwardRequest, writeForwardBackwardOutput, writeSampleResponse } from './messages.ts'

// Written by the official SDK with golden/make_protobuf.py.
const golden = JSON.parse(
  readFileSync(new URL('../golden/protobuf.json', import.meta.url), 'utf8'),
) as Record<'request' | 'empty' | 'sparse' | 'image' | 'sample' | 'output', string>
const bytes = (name: keyof typeof golden): Uint8Array => new Uint8Array(Buffer.from(golden[name], 'base64'))

test('a request that the SDK wrote is read as its JSON would be', () => {
  const { body, forwardOnly } = readForwardBackwardRequest(bytes('request'))
  expect(forwardOnly).toBe(true)
  expect(body).toEqual({
    model_id: 'model-1',
    seq_id: 300,
    forward_backward_input: {
      loss_fn: 'ppo',
      loss_fn_config: { clip_low_threshold: 0.8, clip_high_threshold: 1.28 },
      data: [
        {
          model_input: { chunks: [{ tokens: Int32Array.of(5, 1000, 70000) }] },
          loss_fn_inputs: {
            target_tokens: { data: Float64Array.of(1000, 70000, 2), shape: [3] },
            logprobs: { data: Float32Array.of(0, -0.25, -1.5), shape: [3] },
            advantages: { data: Float32Array.of(0, 2, -0.125), shape: [3] },
          },
        },
        {
          model_input: { chunks: [{ tokens: Int32Array.of(1, 2) }, { tokens: Int32Array.of(3) }] },
          loss_fn_inputs: {
            target_tokens: { data: Float64Array.of(2, 3, 4), shape: [3] },
            weights: { data: Float32Array.of(0, 1, 0.5), shape: [3] },
          },
        },
      ],
    },
  })
  expect(readForwardBackwardRequest(bytes('empty'))).toEqual({
    body: {
      model_id: 'm',
      seq_id: null,
      forward_backward_input: { loss_fn: 'cross_entropy', loss_fn_config: {}, data: [] },
    },
    forwardOnly: false,
  })
})

test('the bytes of a Buffer, which shares its memory, give the same', () => {
  const shared = Buffer.from(golden.request, 'base64')
  expect(readForwardBackwardRequest(shared)).toEqual(readForwardBackwardRequest(bytes('request')))
})

test('encoded results equal those of protobuf byte for byte', () => {
  const sample = writeSampleResponse({
    sequences: [
      { stop_reason: 'length', tokens: [3, 70000], logprobs: [-0.5, -2.25] },
      { stop_reason: 'stop', tokens: [9], logprobs: [-0.125] },
    ],
    prompt_logprobs: [null, -1.5, -0.5],
  })
  expect(Buffer.from(sample).toString('base64')).toBe(golden.sample)
  const output = writeForwardBackwardOutput({
    loss_fn_output_type: 'ArrayRecord',
    loss_fn_outputs: [{ logprobs: { data: [-1, -2, -3] } }, { logprobs: { data: [-0.5] } }],
    metrics: { 'loss:sum': -12.0625 },
  })
  expect(Buffer.from(output).toString('base64')).toBe(golden.output)
})

test('sparse tensors, truncated messages and noise are refused', () => {
  expect(() => readForwardBackwardRequest(bytes('sparse'))).toThrow('Sparse')
  const whole = bytes('request')
  for (let end = 1; end < whole.length; end++) {
    const cut = whole.subarray(0, end)
    try {
      // A message may end between two fields.
      readForwardBackwardRequest(cut)
    } catch (error) {
      expect(error).toMatchObject({ code: 'tinker-bad-request' })
    }
  }
  for (const noise of [[0xff, 0xff, 0xff], Array<number>(20).fill(0xff), [8, 1], [0x7a, 5, 1], [0x22, 0x7f]])
    expect(() => readForwardBackwardRequest(Uint8Array.from(noise))).toThrow('no protobuf message')
  // Nested groups, which the protocol does not have.
  expect(() => readForwardBackwardRequest(new Uint8Array(100_000).fill(0x7b))).toThrow('no protobuf message')
})
