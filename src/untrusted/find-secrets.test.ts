import { expect, test } from 'vitest'
import { createRandom } from '../engine/random/index.ts'
import { secretFinder } from './find-secrets.ts'

/** How a server may write a text. */
const encodings: Record<string, (text: string) => string> = {
  'as it is': (text) => text,
  JSON: (text) => JSON.stringify({ text }),
  'JSON in JSON': (text) => JSON.stringify(JSON.stringify({ text })),
  'JSON in JSON in JSON': (text) => JSON.stringify(JSON.stringify(JSON.stringify({ text }))),
  'broken lines of JSON': (text) => JSON.stringify(text.replace(/.{5}/gs, '$&\n')),
  'an address': (text) => `https://a.example/?q=${encodeURIComponent(text)}`,
  'an address in lower case': (text) => encodeURIComponent(text).replace(/%../g, (hex) => hex.toLowerCase()),
  base64: (text) => Buffer.from(text).toString('base64'),
  'base64 for addresses': (text) => Buffer.from(text).toString('base64url'),
  'base64 in an address': (text) => encodeURIComponent(Buffer.from(text).toString('base64')),
  'base64 in lines': (text) => Buffer.from(text).toString('base64').replace(/.{19}/g, '$&\r\n'),
  'base64 in lines of JSON': (text) =>
    JSON.stringify(Buffer.from(text).toString('base64').replace(/.{7}/g, '$&\n')),
  'broken lines': (text) => text.replace(/.{5}/gs, '$&\n   '),
  hexadecimal: (text) => Buffer.from(text).toString('hex'),
  'hexadecimal in upper case': (text) => Buffer.from(text).toString('hex').toUpperCase(),
  'hexadecimal with colons': (text) => bytes(text, (byte) => byte.toString(16).padStart(2, '0')).join(':'),
  'a dump in lines': (text) =>
    bytes(text, (byte) => byte.toString(16).padStart(2, '0'))
      .join(' ')
      .replace(/.{24}/g, '$&\n'),
  'escapes of C': (text) => bytes(text, (byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join(''),
  'a list of hexadecimal numbers': (text) =>
    `[${bytes(text, (byte) => `0x${byte.toString(16).padStart(2, '0')}`).join(', ')}]`,
  'a list of numbers': (text) => JSON.stringify(bytes(text, (byte) => byte)),
  'a list of numbers in lines': (text) =>
    JSON.stringify(
      bytes(text, (byte) => byte),
      null,
      2,
    ),
  'character references': (text) => bytes(text, (byte) => `&#${byte};`).join(''),
}

function bytes<T>(text: string, of: (byte: number) => T): T[] {
  return [...Buffer.from(text)].map(of)
}

const alphabet = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_+/=.:@$!"\\%&<\''

/** What is left when the places that were found are taken out. */
function without(text: string, secret: string): string {
  let rest = ''
  let from = 0
  for (const [start, end] of secretFinder([secret])(text)) {
    rest += text.slice(from, start)
    from = end
  }
  return rest + text.slice(from)
}

test.each(Object.entries(encodings))(
  'a secret is found in %s, between any other characters',
  (name, encode) => {
    const random = createRandom(name)
    const word = (least: number, most: number): string =>
      Array.from(
        { length: least + random.int(most - least + 1) },
        () => alphabet[random.int(alphabet.length)],
      ).join('')
    for (let trial = 0; trial < 200; trial++) {
      const secret = word(8, 40)
      const [before, after] = [word(0, 12), word(0, 12)]
      expect(secretFinder([secret])(encode(`${before}${secret}${after}`)), secret).not.toEqual([])
      const rest = without(encode(`${before}${secret}${after}`), secret)
      // Base64 shares up to two characters at either end with the neighbours.
      const most = encode(`${before}${after}`).length + (name.startsWith('base64') ? 24 : 8)
      expect(rest.length, `${name}: ${before}|${secret}|${after}: ${rest}`).toBeLessThanOrEqual(most)
    }
  },
)

test('places are in order, without overlap, and a text without secrets has none', () => {
  const find = secretFinder(['sk-1234', 'sk-1234-5678', 'acted'])
  expect(find('sk-1234 and sk-1234-5678 [redacted]')).toEqual([
    [0, 7],
    [12, 24],
    [29, 34],
  ])
  expect(find('sk-123')).toEqual([])
  expect(secretFinder([])('sk-1234')).toEqual([])
})

test('a short secret is searched for only as it is', () => {
  const find = secretFinder(['fish'])
  expect(find('fish')).toHaveLength(1)
  expect(find(Buffer.from('fish').toString('hex'))).toEqual([])
  expect(find('fi\nsh')).toEqual([])
})

test('a list of numbers is one only between the ends of its numbers', () => {
  const find = secretFinder(['12345678'])
  expect(find('[49,50,51,52,53,54,55,56]')).toEqual([[1, 24]])
  expect(find('[149,50,51,52,53,54,55,56]')).toEqual([])
  expect(find('[49,50,51,52,53,54,55,567]')).toEqual([])
})

test('half a character of two halves in a secret is no error', () => {
  const find = secretFinder(['key \ud800 of ten'])
  expect(find('a key \ud800 of ten')).toEqual([[2, 14]])
})
