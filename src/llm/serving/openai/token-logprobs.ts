import type { SampleOutput } from '../../model-backend.ts'
import type { Tokenizer } from '../../tokenizer/tokenizer.ts'
import { symbolBytes } from '../../tokenizer/tokenizer-bytes.ts'

interface TokenText {
  token: string
  logprob: number
  bytes: number[]
}

export type TokenLogprobs = TokenText & { top_logprobs: TokenText[] }

/** The bytes of a token, none where it has no text; its text alone would not show parts of a character. */
export function tokenBytes(tokenizer: Tokenizer, id: number): number[] {
  const written = tokenizer.model.tokens[id]
  if (written === undefined) return []
  const bytes = Array.from(written, (symbol) => symbolBytes.get(symbol))
  const text = tokenizer.decode([id])
  return text === written || bytes.includes(undefined) ? [...Buffer.from(text)] : (bytes as number[])
}

function describe(tokenizer: Tokenizer, id: number, logprob: number): TokenText {
  return { token: tokenizer.decode([id]), logprob, bytes: tokenBytes(tokenizer, id) }
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
  const texts = Array.from(tokens, (id) => tokenizer.decode([id]))
  let at = 0
  return {
    tokens: texts,
    token_logprobs: Array.from(logprobs),
    top_logprobs: texts.map((_, i) =>
      Object.fromEntries(
        (topLogprobs?.[i] ?? []).map(({ token, logprob }) => [tokenizer.decode([token]), logprob]),
      ),
    ),
    text_offset: texts.map((text) => {
      at += text.length
      return at - text.length
    }),
  }
}
