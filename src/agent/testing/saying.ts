import type { ModelBackend, Tokenizer } from '../../language/index.ts'

/** A backend that says the text for the prompt, token by token; it waits for `gate` before each call. Keeps the sizes of its batches. */
export function saying(
  tokenizer: Tokenizer,
  textFor: (prompt: string) => string,
  gate: () => Promise<void> = () => Promise.resolve(),
): Pick<ModelBackend, 'sample'> & { batches: number[]; aborted: number } {
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
      return requests.map((request, row) => {
        const text = textFor(tokenizer.decode(request.prompt))
        const all = tokenizer.encode(text, { addedTokens: true })
        const tokens = all.subarray(0, request.maxTokens ?? all.length)
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
