// Whether a text has a secret. Written apart from src/untrusted/find-secrets.ts, which it checks: it decodes what it finds
// instead of looking for what a secret would be encoded as.

/** In what way of writing a text has one of the secrets. Undefined: it has none. */
export function leakOf(text: string, secrets: readonly string[]): string | undefined {
  for (const [way, read] of Object.entries(readings)) {
    const found = read(text)
    if (secrets.some((secret) => found.includes(secret))) return way
  }
  return undefined
}

const readings: Record<string, (text: string) => string> = {
  'as it is': (text) => text,
  'in JSON': (text) => text.replaceAll(/\\+(["\\/])/g, '$1'),
  'over lines': (text) => text.replaceAll(/(?:\\+[rn]|[\r\n])[\t ]*/g, '').replaceAll(/\\+(["\\/])/g, '$1'),
  'in an address': (text) => text.replaceAll(/%([\da-f]{2})/gi, (_, digits: string) => byte(digits, 16)),
  'in HTML': (text) =>
    text
      .replaceAll(/&(?:amp|#38);/g, '&')
      .replaceAll(/&(?:quot|#34);/g, '"')
      .replaceAll('&lt;', '<')
      .replaceAll('&gt;', '>'),
  'in base64': (text) => decoded(text),
  'in base64 over lines': (text) => decoded(text.replaceAll(/(?:\\+[rn]|[\r\n])[\t ]*/g, '')),
  'in hexadecimal': (text) => {
    const digits = text.replaceAll(/\\+x|\\+u00|0x|[\s%:,;"'-]/gi, ' ').replaceAll(/ +/g, '')
    return runs(digits, /[\da-f]{16,}/gi)
      .flatMap((run) => [hex(run), hex(run.slice(1))])
      .join('\n')
  },
  'as bytes': (text) =>
    runs(text, /\d{1,3}(?:[\s,;]+\d{1,3}){7,}/g)
      .map((run) =>
        run
          .split(/[\s,;]+/)
          .map((digits) => byte(digits, 10))
          .join(''),
      )
      .join('\n'),
}

const byte = (digits: string, base: number): string => String.fromCharCode(parseInt(digits, base))
const hex = (digits: string): string => Buffer.from(digits, 'hex').toString('latin1')
const runs = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([run]) => run)

/** Each run of characters of base64, decoded from each of its first four. */
function decoded(text: string): string {
  return runs(text, /[\w+/-]{10,}/g)
    .flatMap((run) => [0, 1, 2, 3].map((from) => Buffer.from(run.slice(from), 'base64').toString('latin1')))
    .join('\n')
}
