/**
 * The printable stand-in of every byte that GPT-2 and Hugging Face's ByteLevel use: printable Latin-1 stands for itself, every other
 * byte for the next code point from U+0100 on.
 */
export const byteSymbols: readonly string[] = (() => {
  let next = 256
  return Array.from({ length: 256 }, (_, byte) => {
    const printable = (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae
    return String.fromCharCode(printable ? byte : next++)
  })
})()

/** The byte that a stand-in stands for. */
export const symbolBytes: ReadonlyMap<string, number> = new Map(
  byteSymbols.map((symbol, byte) => [symbol, byte]),
)

/**
 * The pre-tokens: a run of letters, one digit, a run of spaces, a run of newlines, or a run of anything else. They cover every text
 * without a gap, and no token reaches over the edge of one. Written so that JavaScript and Oniguruma read it alike.
 */
export const preTokenPattern = '[\\p{L}\\p{M}]+|\\p{N}| +|\\n+|[^\\p{L}\\p{M}\\p{N} \\n]+'

const preTokenRegex = new RegExp(preTokenPattern, 'gu')

/** Splits a text into its pre-tokens; joined they give the text back. */
export function splitPreTokens(text: string): readonly string[] {
  return text.match(preTokenRegex) ?? []
}

/** One number for an ordered pair of token ids. */
export function pairKey(left: number, right: number): number {
  return left * 2 ** 24 + right
}
