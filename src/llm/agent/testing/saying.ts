import type { ModelBackend } from '../../model-backend.ts'
import type { Tokenizer } from '../../tokenizer/tokenizer.ts'

/**
 * A backend that emits the given text for each prompt, token by token, and continues when called again for the same row. Waits
 * for `gate` before each call. Records its batch sizes.
 */
export function saying(
  tokenizer: Tokenizer,
  textFor: (prompt: string) => string,
  gate: () => Promise<void> = () => Promise.resolve(),
): Pick<ModelBackend, 'sample'> & { batches: number[]; aborted: number } {
  const said = new Map<string, Int32Array>()
  const backend = {
    batches: [] as number[],
    aborted: 0,
    async sample(
      requests: Parameters<ModelBackend['sample']>[0],
      { onToken, signal }: Parameters<ModelBackend['sample']>[1],
    ) {
      backend.batches.push(requests.length)
      await gate()
      if (signal?.aborted === true) backend.aborted++
      signal?.throwIfAborted()
      return requests.map(({ prompt, key, maxTokens = Infinity }, row) => {
        const begun = said.get(`${key} ${prompt.length}`)
        const all = begun ?? tokenizer.encode(textFor(tokenizer.decode(prompt)), { addedTokens: true })
        const tokens = all.slice(0, maxTokens)
        if (tokens.length < all.length)
          said.set(`${key} ${prompt.length + tokens.length}`, all.slice(tokens.length))
        for (const token of tokens) onToken?.(row, token, -0.5)
        return {
          tokens,
          logprobs: new Float32Array(tokens.length).fill(-0.5),
          finish: tokens.length < all.length ? ('length' as const) : ('stop' as const),
          weightVersion: 3,
        }
      })
    },
  }
  return backend
}
