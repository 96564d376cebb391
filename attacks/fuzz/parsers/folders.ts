// Folders of public checkpoints and adapters, of which one file is foreign.
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AgogeError } from '../../../src/error.ts'
import type { Random } from '../../../src/engine/random/index.ts'
import { readFactors } from '../../../src/llm/adapter/peft.ts'
import { readChatFormat, readChatModel } from '../../../src/llm/agent/chat-format/open-format.ts'
import { tinyTokenizer, writeTinyCheckpoint } from '../../../src/llm/agent/testing/tiny-checkpoint.ts'
import { readCheckpoint } from '../../../src/llm/checkpoint/checkpoint.ts'
import { readChatTemplate } from '../../../src/llm/tokenizer/chat-template.ts'
import { makeJson } from '../mutate-json.ts'
import { isRecord, jsonOf, textOf } from '../parser.ts'
import type { FuzzParser, Stage } from '../parser.ts'
import { folder } from '../scratch.ts'

const golden = (path: string): string =>
  fileURLToPath(new URL(`../../../src/llm/golden/${path}`, import.meta.url))
const words =
  'eos_token_id bos_token eos_token pad_token content chat_template name template default tool_use agoge toolTokens weight_map metadata weightVersion matrixSteps tensors max_position_embeddings text_config model_type r lora_alpha target_modules peft_type bias'.split(
    ' ',
  )

const files: Record<string, readonly unknown[]> = {
  'generation_config.json': [{ eos_token_id: [3, 4], temperature: 0.6 }, { eos_token_id: 3 }],
  'tokenizer_config.json': [
    {
      bos_token: '<s>',
      eos_token: { content: '</s>' },
      chat_template: '{{ bos_token }}{{ messages[0].content }}{{ eos_token }}',
    },
    {
      chat_template: [
        { name: 'default', template: 'a' },
        { name: 'tool_use', template: 'b' },
      ],
    },
    { agoge: { toolTokens: 100 } },
  ],
  'special_tokens_map.json': [{ bos_token: '<s>', eos_token: { content: '</s>', lstrip: false } }],
  'state.json': [
    { schema: 1, weightVersion: 3, matrixSteps: 0, otherSteps: 0, tensors: ['model.norm.weight'] },
  ],
  'config.json': [
    { model_type: 'qwen3', text_config: { max_position_embeddings: 64 }, eos_token_id: 3 },
    // That of the checkpoint beside it.
    {
      architectures: ['Qwen3ForCausalLM'],
      model_type: 'qwen3',
      vocab_size: tinyTokenizer('qwen').vocabularySize,
      hidden_size: 16,
      num_hidden_layers: 1,
      num_attention_heads: 2,
      num_key_value_heads: 1,
      head_dim: 8,
      intermediate_size: 24,
      rms_norm_eps: 1e-6,
      tie_word_embeddings: true,
      max_position_embeddings: 2048,
    },
  ],
}

/** The name of a file, and its mutated content. */
function makeFile(random: Random): string {
  const name = random.pick(Object.keys(files))
  return `${name}\n${makeJson(random, { examples: files[name].map((each) => JSON.stringify(each)), words })}`
}

/** The name and the content of an input; what they reach is noted. */
function fileOf(input: string, reach: (stage: Stage) => void): [string, string] {
  const at = input.indexOf('\n')
  const content = input.slice(at + 1)
  if (jsonOf(content) !== undefined) reach(1)
  if (isRecord(jsonOf(content)?.value)) reach(2)
  return [input.slice(0, at), content]
}

let base: string | undefined

/** A checkpoint of a few hundred numbers, without the list of its checksums. */
async function baseFolder(): Promise<string> {
  if (base !== undefined) return base
  base = await writeTinyCheckpoint(join(folder(), 'base'))
  rmSync(join(base, 'checksums.sha256'))
  return base
}

const settings: FuzzParser = {
  name: 'settings beside a checkpoint',
  share: 0.1,
  make: makeFile,
  async parse(input, reach) {
    const [name, content] = fileOf(textOf(input), reach)
    if (!(name in files)) return
    const path = join(folder(), 'checkpoint')
    rmSync(path, { recursive: true, force: true })
    cpSync(await baseFolder(), path, { recursive: true })
    // The template then comes from tokenizer_config.json.
    if (name === 'tokenizer_config.json') rmSync(join(path, 'chat_template.jinja'))
    writeFileSync(join(path, name), content)
    const read = [
      async () => {
        const { tokenizer } = await readCheckpoint(path)
        if (tokenizer !== undefined) await readChatFormat(path, tokenizer)
        reach(3)
      },
      () => readChatModel(path),
      async () => (await readChatTemplate(path)).render([{ role: 'user', content: 'x' }]),
    ]
    for (const each of read) await refusing(each)
  },
}

/** Runs work that may be refused. Other errors are faults. */
async function refusing(work: () => unknown): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (!AgogeError.isInstance(error)) throw error
  }
}

const indexed = golden('checkpoints/qwen3')
const indexText = readFileSync(join(indexed, 'model.safetensors.index.json'), 'utf8')

const index: FuzzParser = {
  name: 'model.safetensors.index.json',
  share: 0.1,
  make: (random) =>
    `model.safetensors.index.json\n${makeJson(random, { examples: [indexText], words: ['weight_map', 'metadata', '../x', 'config.json'] })}`,
  async parse(input, reach) {
    const [name, content] = fileOf(textOf(input), reach)
    const path = join(folder(), 'indexed')
    if (!existsSync(path)) {
      mkdirSync(path, { recursive: true })
      cpSync(indexed, path, { recursive: true })
    }
    writeFileSync(join(path, name), content)
    await readCheckpoint(path)
    reach(3)
  },
}

const adapters = golden('adapters/some')
const adapterText = readFileSync(join(adapters, 'adapter_config.json'), 'utf8')
let parameters: Awaited<ReturnType<typeof readCheckpoint>>['parameters'] | undefined

const adapter: FuzzParser = {
  name: 'adapter_config.json',
  share: 0.1,
  make: (random) =>
    `adapter_config.json\n${makeJson(random, { examples: [adapterText], words: ['r', 'lora_alpha', 'use_dora', 'bias', 'init_lora_weights', 'rank_pattern'] })}`,
  async parse(input, reach) {
    const [name, content] = fileOf(textOf(input), reach)
    const path = join(folder(), 'adapter')
    if (!existsSync(path)) cpSync(adapters, path, { recursive: true })
    writeFileSync(join(path, name), content)
    parameters ??= (await readCheckpoint(golden('checkpoints/qwen3'))).parameters
    await readFactors(path, parameters)
    reach(3)
  },
}

export const folderParsers: readonly FuzzParser[] = [settings, index, adapter]
