import type { SamplingSettings } from '../sampling-settings.ts'

/** Watches a row for the sequences that end it. */
export interface StopWatch {
  /** To be told every token in turn; whether the row ends with it. */
  ends(token: number): boolean
}

/** `bytesOf` gives the text of a token as UTF-8; it is asked only where there are texts among the sequences. */
export function createStopWatch(
  { stop, stopSequences = [] }: Pick<SamplingSettings, 'stop' | 'stopSequences'>,
  bytesOf: (token: number) => Uint8Array,
): StopWatch {
  const runs = stopSequences.filter((sequence) => typeof sequence !== 'string')
  const texts = stopSequences.filter((sequence) => typeof sequence === 'string')
  const patterns = texts.map((text) => Buffer.from(text))
  const longestText = Math.max(0, ...patterns.map(({ length }) => length))
  const longestRun = Math.max(0, ...runs.map(({ length }) => length))
  const lastTokens: number[] = []
  let lastBytes = Buffer.alloc(0)

  return {
    ends(token) {
      if (stop.includes(token)) return true
      if (longestRun > 0) {
        lastTokens.push(token)
        if (lastTokens.length > longestRun) lastTokens.shift()
        if (runs.some((run) => endsWith(lastTokens, run))) return true
      }
      if (longestText === 0) return false
      // A text may have begun in the tokens before and end anywhere in this one.
      const seen = Buffer.concat([lastBytes, bytesOf(token)])
      lastBytes = seen.subarray(Math.max(0, seen.length - longestText + 1))
      return patterns.some((pattern) => seen.includes(pattern))
    },
  }
}

const endsWith = (tokens: readonly number[], end: readonly number[]): boolean =>
  end.length <= tokens.length && end.every((token, i) => tokens[tokens.length - end.length + i] === token)
