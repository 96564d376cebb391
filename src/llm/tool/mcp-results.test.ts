import { expect, test } from 'vitest'
import { noSecrets, redacted } from '../../untrusted/untrusted.ts'
import { callResult, cutResult, toErrorResult, toolsPage } from './mcp-results.ts'
import type { ToolResult } from './tool.ts'

const read = (result: unknown) => {
  const checked = callResult['~standard'].validate(result)
  if (checked instanceof Promise || checked.issues !== undefined) return checked
  return { value: redacted(checked.value, noSecrets) }
}
const text = (value: string) => ({ type: 'text', text: value })

test('a result is its text, with other content in brackets', () => {
  const content = [
    text('a'),
    { type: 'image', data: '%', mimeType: 'image/png' },
    { type: 'resource', resource: { uri: 'file:///b', text: 'b' } },
    { type: 'resource_link', uri: 'file:///c' },
    { type: 'hologram' },
  ]
  expect(read({ content })).toEqual({
    value: { text: 'a\n[image image/png]\nb\n[resource file:///c]\n[hologram]', isError: false },
  })
  expect(read({ structuredContent: { a: 1 }, isError: true })).toEqual({
    value: { text: '{"a":1}', isError: true, structured: { a: 1 } },
  })
})

test('a result that is not of the protocol says where', () => {
  const deep = JSON.parse(`${'{"a":'.repeat(200)}1${'}'.repeat(200)}`) as unknown
  for (const [result, message] of [
    [null, 'the result is no object'],
    [{ content: {} }, '"content" is no list'],
    [{ content: [text('a'), null] }, 'item 2 of "content" is not of the protocol'],
    [{ content: [{ type: 'text', text: 5 }] }, 'item 1 of "content" is not of the protocol'],
    // Writing it into a text would call the server's "toString".
    [
      { content: [{ type: 'resource', resource: { uri: 'a', mimeType: { toString: 1 } } }] },
      'item 1 of "content" is not of the protocol',
    ],
    [{ content: [], isError: 'no' }, '"isError" is neither true nor false'],
    [{ content: [], structuredContent: deep }, '"structuredContent" is nested more than 128 levels deep'],
  ])
    expect(read(result)).toEqual({ issues: [{ message }] })
})

test('a long result is cut once its secrets are hidden, and one that is too long is an error that says so', () => {
  const kept = read({ content: [text('x'.repeat(500_000))] }) as { value: ToolResult }
  expect(kept.value.text.length).toBeGreaterThan(100_000)
  expect(cutResult(kept.value)).toEqual({ text: `${'x'.repeat(100_000)}…`, isError: false })
  expect(cutResult({ text: 'short', isError: true })).toEqual({ text: 'short', isError: true })
  const tooLong = { text: 'the result has 1000001 characters, and at most 1000000 are read', isError: true }
  expect(read({ content: [text('x'.repeat(1_000_001))] })).toEqual({ value: tooLong })
  expect(read({ content: Array(10_001).fill(text('')) })).toEqual({
    value: { text: 'the result has 10001 items, and at most 10000 are read', isError: true },
  })
  expect(redacted(toErrorResult('x'.repeat(1_000_001)), noSecrets)).toEqual(tooLong)
  expect(redacted(toErrorResult('no'), noSecrets)).toEqual({ text: 'no', isError: true })
})

test('a tool whose definition is too long is left out', () => {
  const inputSchema = { type: 'object' }
  const tools = [
    { name: 'long', description: 'x'.repeat(100_000), inputSchema },
    { name: 'short', description: 'x'.repeat(90_000), inputSchema },
  ]
  const page = toolsPage['~standard'].validate({ tools })
  if (page instanceof Promise || page.issues !== undefined) throw new Error('no page')
  expect(page.value.count).toBe(2)
  expect(redacted(page.value.tools, noSecrets)).toMatchObject({
    specs: [{ name: 'short' }],
    unusable: [
      {
        name: 'long',
        reason: expect.stringMatching(
          /^its definition has 1000\d\d characters, and at most 100000 are read$/,
        ) as string,
      },
    ],
  })
})
