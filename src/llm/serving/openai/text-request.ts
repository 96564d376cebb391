import { booleanField, numberField, refuseFields } from './fields.ts'
import type { Json } from './fields.ts'
import { withinWindow } from './generate.ts'
import { badField } from './request-error.ts'
import { readSampling } from './sampling-fields.ts'
import type { SamplingFields } from './sampling-fields.ts'
import type { ServedModel } from './served-model.ts'

export interface TextRequest extends SamplingFields {
  /** Token ids of each prompt. */
  prompts: Int32Array[]
  echo: boolean
  /** How many of the likeliest tokens are told beside each; undefined = no log-probabilities. */
  logprobs: number | undefined
}

/** Reads the body of `POST /v1/completions`. In texts, names of special tokens are those tokens; nothing is put in front. */
export function readTextRequest(body: Json, model: ServedModel, mostPrompts: number): TextRequest {
  refuseFields(body, ['suffix'])
  return {
    ...readSampling(body),
    prompts: readPrompts(body['prompt'], model, mostPrompts),
    echo: booleanField(body, 'echo'),
    logprobs: numberField(body, 'logprobs', { least: 0, most: 20, whole: true }),
  }
}

function readPrompts(prompt: unknown, { tokenizer, window }: ServedModel, mostPrompts: number): Int32Array[] {
  const expected = 'a text, a list of texts, token ids, or a list of lists of token ids'
  const isIds = (value: unknown): value is number[] =>
    Array.isArray(value) && value.length > 0 && value.every((id) => Number.isSafeInteger(id))
  /** Int32Array keeps the lowest 32 bits: without this 4294967301 would be token 5. */
  const tokensOf = (ids: readonly number[]): Int32Array => {
    const tokens = Int32Array.from(ids)
    const wrong = ids.find((id, i) => id !== tokens[i])
    if (wrong !== undefined) throw badField('prompt', wrong, 'ids of tokens')
    return tokens
  }
  const list: unknown[] = isIds(prompt) || !Array.isArray(prompt) ? [prompt] : prompt
  if (list.length === 0) throw badField('prompt', prompt, expected)
  if (list.length > mostPrompts) throw badField('prompt', `${list.length} prompts`, `at most ${mostPrompts}`)
  return list.map((one) => {
    if (typeof one === 'string' && one !== '')
      return withinWindow(window, (most) => tokenizer.encode(one, { addedTokens: true, most }))
    if (isIds(one)) return tokensOf(one)
    throw badField('prompt', one, expected)
  })
}
