import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createChatTemplate } from '../../tokenizer/chat-template.ts'
import { writeCheckpoint } from '../../checkpoint/checkpoint.ts'
import type { ModelFamily } from '../../model/config.ts'
import { initialiseParameters } from '../../model/parameters.ts'
import { tokenizerFromJson } from '../../tokenizer/tokenizer-json.ts'
import { createTokenizer } from '../../tokenizer/tokenizer.ts'
import type { Tokenizer } from '../../tokenizer/tokenizer.ts'

const golden = (name: string): Record<string, unknown> =>
  JSON.parse(readFileSync(new URL(`../../golden/${name}.json`, import.meta.url), 'utf8')) as Record<
    string,
    unknown
  >

/** Templates like those of Qwen (drops reasoning, calls between tags) and Llama 3 (calls as bare JSON), with matching tokenizers. */
export const families = {
  qwen: { template: 'im', tokenizer: 'qwen2', eos: '<|im_end|>' },
  llama: { template: 'headers', tokenizer: 'llama3', eos: '<|eot_id|>' },
} as const

export type TinyFamily = keyof typeof families

export function templateText(family: TinyFamily): string {
  return (golden('chat-templates')[families[family].template] as { template: string }).template
}

export function tinyTemplate(family: TinyFamily): ReturnType<typeof createChatTemplate> {
  return createChatTemplate(templateText(family), { bos_token: '<|begin_of_text|>' })
}

export function tinyTokenizer(family: TinyFamily): Tokenizer {
  const { json } = golden('tokenizers')[families[family].tokenizer] as { json: unknown }
  return createTokenizer(tokenizerFromJson(JSON.stringify(json)))
}

/** Writes a public checkpoint with random weights, as `transformers` would save it. Returns the folder. */
export async function writeTinyCheckpoint(
  folder: string,
  options: { family?: TinyFamily; modelType?: ModelFamily; window?: number; seed?: number } = {},
): Promise<string> {
  const { family = 'qwen', modelType = 'qwen3', window = 2048, seed = 1 } = options
  const tokenizer = tinyTokenizer(family)
  const { eos } = families[family]
  const config = {
    model_type: modelType,
    vocab_size: tokenizer.vocabularySize,
    hidden_size: 16,
    num_hidden_layers: 1,
    num_attention_heads: 2,
    num_key_value_heads: 1,
    head_dim: 8,
    intermediate_size: 24,
    rope_theta: 10_000,
    rms_norm_eps: 1e-6,
    tie_word_embeddings: true,
    max_position_embeddings: window,
    eos_token_id: tokenizer.special(eos),
  }
  mkdirSync(folder, { recursive: true })
  const target = join(folder, 'model')
  await writeCheckpoint(target, {
    config,
    parameters: initialiseParameters(config, seed),
    tokenizer,
    companions: {
      'tokenizer_config.json': JSON.stringify({ bos_token: '<|begin_of_text|>', eos_token: eos }),
      'chat_template.jinja': templateText(family),
      'generation_config.json': JSON.stringify({ eos_token_id: tokenizer.special(eos) }),
    },
    weightVersion: 0,
  })
  return target
}
