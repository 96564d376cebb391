import { readdirSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import {
  checked,
  hidingKey,
  noSecrets,
  parsed,
  received,
  receivedText,
  redacted,
  redactedBy,
  type Untrusted,
} from './untrusted.ts'

const hide = (text: string): string => text.replaceAll('sk-1', '[redacted]')
const nameOf = (value: unknown): string => {
  if (typeof value === 'object' && value !== null && 'name' in value) return String(value.name)
  throw new Error('no name')
}

test('what came from outside comes out parsed, checked and redacted', () => {
  const name = redacted(checked(parsed(received('{"name":"a sk-1"}')), nameOf), hide)
  expect(name).toBe('a [redacted]')
  expect(() => parsed(received('{'))).toThrow(SyntaxError)
  expect(() => parsed(received('['.repeat(300) + ']'.repeat(300)))).toThrow('256')
  expect(() => checked(parsed(received('{}')), nameOf)).toThrow('no name')
  expect(redactedBy(received('sk-1'), (text) => hide(text).length)).toBe(10)
})

test('texts, keys and numbers are redacted at any depth; bytes are left', () => {
  const bytes = Uint8Array.of(1)
  const value = received({ 'sk-1': ['sk-1', { deep: 4711 }], bytes, none: null })
  const out = redacted(value, (text) => hide(text).replaceAll('4711', '[redacted]'))
  expect(out).toEqual({ '[redacted]': ['[redacted]', { deep: '[redacted]' }], bytes, none: null })
  expect(redacted(value, noSecrets)['sk-1']).toEqual(['sk-1', { deep: 4711 }])
})

test('a key is hidden, and no key hides nothing', () => {
  expect(redacted(received('key k-1'), hidingKey('k-1'))).toBe('key [redacted]')
  for (const none of [undefined, '']) expect(redacted(received('key'), hidingKey(none))).toBe('key')
})

test('an answer is read up to its limit', async () => {
  expect(redacted(await receivedText(new Response('grüße'), 7), noSecrets)).toBe('grüße')
  expect(redacted(await receivedText(new Response(null), 0), noSecrets)).toBe('')
  let pulled = 0
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      pulled++
      controller.enqueue(new Uint8Array(1000))
    },
  })
  await expect(receivedText(new Response(body), 5000)).rejects.toThrow('it sent more than 5000 bytes')
  expect(pulled).toBeLessThan(20)
})

test('the compiler refuses a skipped step', () => {
  const text: Untrusted<string> = received('{"name":"a"}')
  // @ts-expect-error -- it is not out yet.
  const early: string = text
  // @ts-expect-error -- nothing of it can be read.
  const length: unknown = text.length
  // @ts-expect-error -- bytes that were not received within bounds cannot be parsed.
  const unbounded = parsed('{}')
  // @ts-expect-error -- what was not parsed is no text.
  const twice = (): unknown => parsed(parsed(text))
  // @ts-expect-error -- what was not checked has no name.
  const unchecked = (): string => redacted(parsed(text), hide)
  // @ts-expect-error -- the way out needs a redactor.
  const open = (): string => redacted(checked(parsed(text), nameOf))
  expect([early, length, unbounded, twice, unchecked, open]).toHaveLength(6)
})

/** Transports, and wrappers of tools, mark what comes in. Nothing else does. */
const transports = [
  'llm/serving/json-body.ts',
  'llm/serving/tinker/loss-body.ts',
  'llm/tool/mcp-client.ts',
  'llm/tool/mcp-results.ts',
  'llm/tool/redact.ts',
  'llm/tool/stdio-transport.ts',
]

test('only transports mark a value as received, and all who fetch read the answer within a limit', () => {
  const root = fileURLToPath(new URL('..', import.meta.url))
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (name) => name.endsWith('.ts') && !/\.test\.ts$|[/\\]testing[/\\]|^untrusted[/\\]/.test(name),
  )
  expect(files.length).toBeGreaterThan(500)
  const sources = files.map((name) => ({
    name: name.split(sep).join('/'),
    text: readFileSync(join(root, name), 'utf8'),
  }))
  const markers = sources.filter(({ text }) =>
    /\breceived[,\s][^;]*?from '[./]+untrusted\/untrusted\.ts'/.test(text),
  )
  expect(markers.map(({ name }) => name).toSorted()).toEqual(transports)
  const unlimited = sources.filter(({ text }) =>
    /\b(?:response|reply|answer)\.(?:text|json|arrayBuffer)\(\)/.test(text),
  )
  expect(unlimited.map(({ name }) => name)).toEqual([])
})
