// What public checkpoints consist of: weights, settings of the model, tokenizers.
import { readdirSync, readFileSync } from 'node:fs'
import type { Random } from '../../../src/engine/random/index.ts'
import { readSafetensors, writeSafetensors } from '../../../src/engine/nn/safetensors.ts'
import { parseConfig, serialiseConfig } from '../../../src/llm/checkpoint/config-json.ts'
import { smallConfig } from '../../../src/llm/model/config.ts'
import { trainTokenizer } from '../../../src/llm/tokenizer/bpe-train.ts'
import { tokenizerFromJson, tokenizerToJson } from '../../../src/llm/tokenizer/tokenizer-json.ts'
import { createTokenizer } from '../../../src/llm/tokenizer/tokenizer.ts'
import { makeBytes, joined } from '../mutate-bytes.ts'
import { makeJson } from '../mutate-json.ts'
import { bytesOf, isRecord, jsonOf, Mismatch, mustEqual, textOf } from '../parser.ts'
import type { FuzzParser } from '../parser.ts'

const golden = new URL('../../../src/llm/golden/', import.meta.url)
const goldenText = (path: string): string => readFileSync(new URL(path, golden), 'utf8')

const tensors = {
  'a.weight': { data: Float32Array.of(1, -2.5, 3e-8, 0), shape: [2, 2] },
  'b.bias': { data: Float32Array.of(0.5, 65_504), shape: [2] },
  scalar: { data: Float32Array.of(7), shape: [] },
  empty: { data: new Float32Array(0), shape: [0, 3] },
}
const weightFiles = [
  writeSafetensors(tensors),
  writeSafetensors(tensors, { metadata: { format: 'pt' }, type: 'F16' }),
  writeSafetensors({ 'a.weight': tensors['a.weight'] }, { type: 'BF16' }),
  writeSafetensors({}),
]

/** The header of a file as text, and the bytes after it. */
function partsOf(file: Uint8Array): [string, Uint8Array] {
  const length = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true))
  return [Buffer.from(file.subarray(8, 8 + length)).toString(), file.subarray(8 + length)]
}

const headers = {
  examples: weightFiles.map((file) => partsOf(file)[0]),
  words: ['dtype', 'shape', 'data_offsets', '__metadata__', 'F32', 'F16', 'BF16', 'F64', 'I64'],
}

/** A mutated header with its right length, or mutated bytes. */
function makeWeightFile(random: Random): Uint8Array {
  if (random.next() < 0.3) return makeBytes(random, weightFiles)
  const header = Buffer.from(makeJson(random, headers))
  const length = new Uint8Array(8)
  new DataView(length.buffer).setBigUint64(0, BigInt(header.length), true)
  return joined(length, header, partsOf(random.pick(weightFiles))[1])
}

const safetensors: FuzzParser = {
  name: 'safetensors',
  share: 2,
  make: makeWeightFile,
  parse(input, reach) {
    const bytes = bytesOf(input)
    if (bytes.length >= 8 && bytes.length < 1e6) {
      const header = jsonOf(partsOf(bytes)[0])
      if (header !== undefined) reach(1)
      if (isRecord(header?.value) && Object.values(header.value).every(isRecord)) reach(2)
    }
    const file = readSafetensors(bytes)
    reach(3)
    const again = readSafetensors(writeSafetensors(file.tensors, { metadata: file.metadata }))
    mustEqual(Object.keys(again.tensors), Object.keys(file.tensors), 'names of tensors')
    mustEqual(again.metadata, file.metadata, 'metadata')
    for (const [name, { data, shape }] of Object.entries(file.tensors)) {
      mustEqual(again.tensors[name].shape, shape, 'a shape')
      if (!Buffer.from(again.tensors[name].data.buffer).equals(Buffer.from(data.buffer)))
        throw new Mismatch('the numbers of a tensor')
    }
  },
}

const configs = {
  examples: [
    serialiseConfig(smallConfig),
    ...readdirSync(new URL('checkpoints/', golden)).map((name) =>
      goldenText(`checkpoints/${name}/config.json`),
    ),
  ],
  words: [
    ...'architectures model_type rope_scaling rope_parameters rope_theta head_dim layer_types use_sliding_window'.split(
      ' ',
    ),
    ...'quantization_config attention_bias partial_rotary_factor max_window_layers eos_token_id LlamaForCausalLM'.split(
      ' ',
    ),
    ...'qwen2 qwen3 llama yarn llama3 linear default factor rope_type full_attention'.split(' '),
  ],
}

const config: FuzzParser = {
  name: 'config.json of a checkpoint',
  share: 2,
  make: (random) => makeJson(random, configs),
  parse(input, reach) {
    const read = jsonOf(input)
    if (read === undefined) return
    reach(1)
    if (isRecord(read.value) && typeof read.value['hidden_size'] === 'number') reach(2)
    const parsed = parseConfig(read.value)
    reach(3)
    mustEqual(parseConfig(JSON.parse(serialiseConfig(parsed))), parsed, 'a configuration written and read')
  },
}

interface GoldenTokenizer {
  json: unknown
}

const ownTokenizer = trainTokenizer(['the cat sat on the mat, the cat sat', '{"name":"a"}'.repeat(4)], {
  vocabularySize: 300,
  specialTokens: ['<|end|>'],
})
const tokenizers = {
  examples: [
    tokenizerToJson(ownTokenizer),
    ...['tokenizers.json', 'subword-tokenizers.json'].flatMap((file) =>
      Object.values(JSON.parse(goldenText(file)) as Record<string, GoldenTokenizer>).map(({ json }) =>
        JSON.stringify(json),
      ),
    ),
  ],
  words: [
    ...'added_tokens content special normalized lstrip single_word normalizer NFC NFKC pre_tokenizer Sequence Split ByteLevel'.split(
      ' ',
    ),
    ...'pretokenizers pattern Regex behavior Isolated Removed MergedWithNext use_regex add_prefix_space model vocab merges BPE'.split(
      ' ',
    ),
    ...'Unigram WordPiece unk_token ignore_merges byte_fallback decoder post_processor'.split(' '),
  ],
}

const sample = 'The cat: 12 <|end|> naïve 漢字\n\t"x" '

const tokenizer: FuzzParser = {
  name: 'tokenizer.json',
  share: 0.15,
  make: (random) => makeJson(random, tokenizers),
  parse(input, reach) {
    const text = textOf(input)
    const read = jsonOf(text)
    if (read !== undefined) reach(1)
    if (isRecord(read?.value) && isRecord(read.value['model'])) reach(2)
    const model = tokenizerFromJson(text)
    const made = createTokenizer(model)
    reach(3)
    const ids = made.encode(sample)
    const back = made.decode(ids)
    if (model.json === undefined && (model.layout?.normalForms.length ?? 0) === 0 && back !== sample)
      throw new Mismatch(`a text encoded and decoded: ${back}`)
    const again = tokenizerFromJson(tokenizerToJson(model))
    mustEqual(again.tokens.length, model.tokens.length, 'a tokenizer written and read')
    made.texts()
  },
}

export const weightParsers: readonly FuzzParser[] = [safetensors, config, tokenizer]
