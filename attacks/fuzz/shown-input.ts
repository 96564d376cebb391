import { visibleLine } from '../../src/untrusted/visible-text.ts'
import type { Input } from './parser.ts'

const mostShown = 240

/** An input in a line: a text as it is, bytes in base64. */
export function shownInput(input: Input): string {
  return visibleLine(typeof input === 'string' ? input : Buffer.from(input).toString('base64'), mostShown)
}
