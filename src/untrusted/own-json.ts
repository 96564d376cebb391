/**
 * Parses JSON that this process has made itself, such as a copy of a value, and the settings that its user wrote, which say what programs to
 * start. Whatever else came from outside, files included, passes
 * `parseForeignJson` or the steps of `untrusted.ts`; `npm run lint` refuses `JSON.parse` elsewhere.
 *
 * @example
 * parseOwnJson(JSON.stringify({ a: undefined, b: 1 })) // { b: 1 }
 */
export const parseOwnJson = (text: string, reviver?: (key: string, value: unknown) => unknown): unknown =>
  JSON.parse(text, reviver)
