import { withoutBegunMark } from './visible-text.ts'
import type { ChatFormat, ChatOutput } from './types.ts'

/** What has become sure since the last time. */
export interface OutputDelta {
  text: string
  reasoning: string
}

/** Turns tokens, as they come, into pieces of text; calls are told at the end, whole. */
export interface OutputStream {
  push(token: number): OutputDelta
  /** What was held back, with the output as a whole. */
  end(read: Pick<ChatOutput, 'text' | 'reasoning'>): OutputDelta
}

/** `stops`: texts that end the output and are no part of it. */
export function createOutputStream(format: ChatFormat, stops: readonly string[] = []): OutputStream {
  const tokens: number[] = []
  const told = { text: '', reasoning: '' }
  const advance = (text: string, reasoning: string): OutputDelta => {
    const delta = { text: newPart(told.text, text), reasoning: newPart(told.reasoning, reasoning) }
    told.text += delta.text
    told.reasoning += delta.reasoning
    return delta
  }
  return {
    push(token) {
      tokens.push(token)
      const { text, reasoning = '' } = format.visible(Int32Array.from(tokens))
      return advance(withoutBegunMark(cutAtStop(text, stops), stops), reasoning)
    },
    end: ({ text, reasoning = '' }) => advance(text, reasoning),
  }
}

/** The text before the first of the stops. */
export function cutAtStop(text: string, stops: readonly string[]): string {
  const found = stops.map((stop) => text.indexOf(stop)).filter((at) => at >= 0)
  return found.length === 0 ? text : text.slice(0, Math.min(...found))
}

function newPart(told: string, now: string): string {
  return now.startsWith(told) ? now.slice(told.length) : ''
}
