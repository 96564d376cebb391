import type { SampleOutput } from '../../model-backend.ts'
import type { Tokenizer } from '../../tokenizer/tokenizer.ts'

interface TokenText {
  token: string
  logprob: number
  bytes: number[]
}

export type TokenLogprobs = TokenText & { top_logprobs: TokenText[] }

/** A token may hold a part of a character only, which then shows as U+FFFD. */
const textOfBytes = (bytes: Uint8Array): string => decoder.decode(bytes)
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

function describe(tokenizer: Tokenizer, id: number, logprob: number): TokenText {
  const bytes = tokenizer.bytes(id)
  return { token: textOfBytes(bytes), logprob, bytes: Array.from(bytes) }
}

/** `choices[].logprobs.content` of a chat completion, one entry a token. */
export function chatLogprobs(
  tokenizer: Tokenizer,
  { tokens, logprobs, topLogprobs }: Pick<SampleOutput, 'tokens' | 'logprobs' | 'topLogprobs'>,
  from = 0,
): TokenLogprobs[] {
  return Array.from(tokens.subarray(from), (id, i) => ({
    ...describe(tokenizer, id, logprobs[from + i]),
    top_logprobs: (topLogprobs?.[from + i] ?? []).map(({ token, logprob }) =>
      describe(tokenizer, token, logprob),
    ),
  }))
}

/** `choices[].logprobs` of a text completion: lists with one entry a token. */
export function textLogprobs(
  tokenizer: Tokenizer,
  { tokens, logprobs, topLogprobs }: Pick<SampleOutput, 'tokens' | 'logprobs' | 'topLogprobs'>,
): Record<string, unknown> {
  const texts = Array.from(tokens, (id) => textOfBytes(tokenizer.bytes(id)))
  let at = 0
  return {
    tokens: texts,
    token_logprobs: Array.from(logprobs),
    top_logprobs: texts.map((_, i) =>
      Object.fromEntries(
        (topLogprobs?.[i] ?? []).map(({ token, logprob }) => [textOfBytes(tokenizer.bytes(token)), logprob]),
      ),
    ),
    text_offset: texts.map((text) => {
      at += text.length
      return at - text.length
    }),
  }
}
