import { parseJson } from './json-walk.ts'

/** Characters of a result that the window shows, where nothing else is set. */
export const defaultResultLimit = 300

/**
 * What the window shows of a result: JSON without its white space, runs of blank lines closed up, cut to `limit`
 * characters with an ellipsis. The same text always gives the same result.
 */
export function compactResult(text: string, limit = defaultResultLimit): string {
  const json = parseJson(text)
  const short = json === undefined ? text.trim().replace(/\s*\n\s*\n\s*/g, '\n') : JSON.stringify(json)
  const points = Array.from(short)
  return points.length <= limit ? short : `${points.slice(0, limit - 1).join('')}…`
}
