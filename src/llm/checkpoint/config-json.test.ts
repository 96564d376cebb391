import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { writeSafetensors } from '../../engine/nn/index.ts'
import { readCheckpoint } from './checkpoint.ts'
import { firstDifference, headWidth, rotaryFrequencies, smallConfig } from '../model/config.ts'
import { parseConfig, serialiseConfig } from './config-json.ts'
import { parameterLayout } from '../model/parameters.ts'

const common = { hidden_act: 'silu', torch_dtype: 'bfloat16' }
/** What the published configurations of these models say. */
const published = {
  'Llama-3.2-1B': {
    ...common,
    architectures: ['LlamaForCausalLM'],
    model_type: 'llama',
    attention_bias: false,
    mlp_bias: false,
    bos_token_id: 128000,
    eos_token_id: [128001, 128008, 128009],
    head_dim: 64,
    hidden_size: 2048,
    intermediate_size: 8192,
    max_position_embeddings: 131072,
    num_attention_heads: 32,
    num_hidden_layers: 16,
    num_key_value_heads: 8,
    rms_norm_eps: 1e-5,
    rope_scaling: {
      factor: 32,
      high_freq_factor: 4,
      low_freq_factor: 1,
      original_max_position_embeddings: 8192,
      rope_type: 'llama3',
    },
    rope_theta: 500000,
    tie_word_embeddings: true,
    vocab_size: 128256,
  },
  'Qwen2.5-0.5B': {
    ...common,
    architectures: ['Qwen2ForCausalLM'],
    model_type: 'qwen2',
    bos_token_id: 151643,
    eos_token_id: 151643,
    hidden_size: 896,
    intermediate_size: 4864,
    max_position_embeddings: 32768,
    max_window_layers: 24,
    num_attention_heads: 14,
    num_hidden_layers: 24,
    num_key_value_heads: 2,
    rms_norm_eps: 1e-6,
    rope_theta: 1000000,
    sliding_window: 32768,
    tie_word_embeddings: true,
    use_sliding_window: false,
    vocab_size: 151936,
  },
  'Qwen3-0.6B': {
    ...common,
    architectures: ['Qwen3ForCausalLM'],
    model_type: 'qwen3',
    attention_bias: false,
    bos_token_id: 151643,
    eos_token_id: 151645,
    head_dim: 128,
    hidden_size: 1024,
    intermediate_size: 3072,
    max_position_embeddings: 40960,
    max_window_layers: 28,
    num_attention_heads: 16,
    num_hidden_layers: 28,
    num_key_value_heads: 8,
    rms_norm_eps: 1e-6,
    rope_scaling: null,
    rope_theta: 1000000,
    sliding_window: null,
    tie_word_embeddings: true,
    use_sliding_window: false,
    vocab_size: 151936,
  },
}

test.each([
  ['Llama-3.2-1B', 1_235_814_400],
  ['Qwen2.5-0.5B', 494_032_768],
  ['Qwen3-0.6B', 596_049_920],
] as const)('%s has %d parameters and survives a round trip', (name, size) => {
  const config = parseConfig(published[name])
  expect(parameterLayout(config).size).toBe(size)
  const text = serialiseConfig(config)
  expect(parseConfig(JSON.parse(text))).toEqual(config)
  const { hidden_act, torch_dtype: _, ...given } = published[name]
  const saved = JSON.parse(text) as Record<string, unknown>
  expect(hidden_act).toBe(saved['hidden_act'])
  for (const [field, value] of Object.entries(given))
    if (saved[field] !== undefined) expect(saved[field], field).toEqual(value)
})

test("the project's own models are written as before, and read back without more fields", () => {
  const config = parseConfig(JSON.parse(serialiseConfig(smallConfig)))
  expect(config).toEqual(smallConfig)
  expect(Object.keys(JSON.parse(serialiseConfig(smallConfig)) as object).slice(0, 3)).toEqual([
    'architectures',
    'model_type',
    'vocab_size',
  ])
})

test('newer releases keep the rotary angles in rope_parameters', () => {
  const { rope_scaling, rope_theta, ...rest } = published['Llama-3.2-1B']
  const newer = parseConfig({ ...rest, rope_parameters: { ...rope_scaling, rope_theta } })
  expect(newer).toEqual(parseConfig(published['Llama-3.2-1B']))
})

test('unknown families are refused with the names of the supported ones', () => {
  const base = published['Qwen2.5-0.5B']
  for (const change of [
    { model_type: 'mistral', architectures: ['MistralForCausalLM'] },
    { architectures: ['Qwen2ForSequenceClassification'] },
    { model_type: 'qwen3_moe', architectures: undefined },
    { model_type: undefined, architectures: ['GPT2LMHeadModel'] },
  ]) {
    const given = { ...base, ...change }
    expect(() => parseConfig(given)).toThrow(
      expect.objectContaining({
        code: 'unsupported-architecture',
        given: { model_type: given.model_type, architectures: given.architectures },
        expected: expect.stringContaining('Qwen3ForCausalLM') as unknown,
      }),
    )
  }
  expect(parseConfig({ ...base, model_type: undefined }).model_type).toBe('qwen2')
  expect(parseConfig({ ...base, architectures: undefined }).model_type).toBe('qwen2')
})

test.each([
  [{ use_sliding_window: true, max_window_layers: 3 }, 'use_sliding_window'],
  [{ layer_types: ['full_attention', 'sliding_attention'] }, 'layer_types'],
  [{ rope_scaling: { type: 'dynamic', factor: 2 } }, 'rope_type'],
  [{ rope_scaling: { rope_type: 'llama3', factor: 2 } }, 'low_freq_factor'],
  [{ quantization_config: { quant_method: 'gptq' } }, 'quantization_config'],
  [{ mlp_bias: true }, 'mlp_bias'],
  [{ hidden_act: 'gelu' }, 'hidden_act'],
  [{ head_dim: 7 }, 'head_dim'],
  [{ num_key_value_heads: 3 }, 'num_key_value_heads'],
  [{ hidden_size: '896' }, 'hidden_size'],
])('%j cannot be computed and is refused', (change, field) => {
  expect(() => parseConfig({ ...published['Qwen2.5-0.5B'], ...change })).toThrow(field)
})

test('attention windows that no layer uses are ignored', () => {
  const base = published['Qwen2.5-0.5B']
  expect(parseConfig({ ...base, use_sliding_window: true })).toEqual(parseConfig(base))
  expect(parseConfig({ ...base, layer_types: ['full_attention'] })).toEqual(parseConfig(base))
})

test('configurations differ if they compute something else', () => {
  const qwen = parseConfig(published['Qwen3-0.6B'])
  expect(firstDifference(qwen, { ...qwen, eos_token_id: 5, head_dim: headWidth(qwen) })).toBeUndefined()
  expect(firstDifference(qwen, { ...qwen, head_dim: 64 })).toBe('head_dim')
  expect(firstDifference(smallConfig, { ...smallConfig, model_type: 'qwen2' })).toBe('model_type')
  expect(
    firstDifference(smallConfig, { ...smallConfig, rope_scaling: { rope_type: 'linear', factor: 2 } }),
  ).toBe('rope_scaling')
})

test('scaled angles: short waves stay, long ones are divided, those between are interpolated', () => {
  const plain = rotaryFrequencies(500_000, 64, undefined).frequencies
  const scaling = parseConfig(published['Llama-3.2-1B']).rope_scaling
  const { frequencies, amplitude } = rotaryFrequencies(500_000, 64, scaling)
  expect(amplitude).toBe(1)
  const ratios = frequencies.map((frequency, i) => plain[i] / frequency)
  expect(ratios[0]).toBe(1)
  expect(ratios.at(-1)).toBe(32)
  expect(ratios.some((ratio) => ratio > 1.01 && ratio < 31.9)).toBe(true)
  expect([...ratios].sort((a, b) => a - b)).toEqual([...ratios])
})

test('names of architectures that are no texts are refused', () => {
  const given = { ...(JSON.parse(serialiseConfig(smallConfig)) as object), model_type: undefined }
  for (const architectures of [[{ toString: 1, valueOf: 1 }], [[['LlamaForCausalLM']]], [null]])
    expect(() => parseConfig({ ...given, architectures })).toThrow(
      expect.objectContaining({ code: 'unsupported-architecture' }),
    )
})

test('layers without end are refused', () => {
  const given = { ...(JSON.parse(serialiseConfig(smallConfig)) as object), num_hidden_layers: 2 ** 31 }
  expect(() => parseConfig(given)).toThrow(
    expect.objectContaining({
      code: 'bad-model-config',
      message: expect.stringContaining('num_hidden_layers') as string,
    }),
  )
})

test('weights that are smaller than the model of config.json are refused before there is room for them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-config-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'config.json'), serialiseConfig({ ...smallConfig, vocab_size: 2 ** 31 }))
  writeFileSync(join(folder, 'model.safetensors'), writeSafetensors({}))
  await expect(readCheckpoint(folder)).rejects.toMatchObject({
    code: 'bad-checkpoint',
    message: expect.stringContaining('smaller than those of the model') as string,
  })
})

test.each(['null', '[]', '5'])('a state.json that is %s is refused', async (text) => {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-config-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(fileURLToPath(new URL('../golden/checkpoints/qwen3', import.meta.url)), folder, { recursive: true })
  writeFileSync(join(folder, 'state.json'), text)
  await expect(readCheckpoint(folder)).rejects.toMatchObject({ code: 'bad-checkpoint' })
})

test('ids of tokens that are none are refused', () => {
  const given = JSON.parse(serialiseConfig(smallConfig)) as object
  expect(parseConfig({ ...given, eos_token_id: [1, 2] }).eos_token_id).toEqual([1, 2])
  for (const id of ['1', {}, [[[1]]], true])
    expect(() => parseConfig({ ...given, eos_token_id: id })).toThrow(
      expect.objectContaining({ code: 'bad-model-config' }),
    )
})
