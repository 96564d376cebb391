import type { Drawing } from '../definition.ts'

/** Width of a line, in the drawing's units, that says none. */
export const defaultStroke = ({ view }: Drawing): number => 0.01 * Math.max(view[2], view[3])

/** Height of a text, in the drawing's units, that says none. */
export const defaultTextSize = ({ view }: Drawing): number => 0.08 * view[3]
