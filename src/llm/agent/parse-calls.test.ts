import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { parseCalls, parseExactCall, readArguments, repairJson } from './parse-calls.ts'

const call = { name: 'read', arguments: { path: '/a' } }

test('only the exact form is accepted', () => {
  expect(parseExactCall('{"name":"read","arguments":{"path":"/a"}}')).toEqual(call)
  expect(parseExactCall('{"name":"read","arguments":{"path":"/a"}')).toBe('the call is not JSON')
  expect(parseExactCall("{'name':'read','arguments':{}}")).toBe('the call is not JSON')
  expect(parseExactCall('["read"]')).toBe('the call is not an object')
  expect(parseExactCall('{"tool":"read","arguments":{}}')).toBe('the call has no name')
  expect(parseExactCall('{"name":"read","arguments":"{}"}')).toBe('the call has no arguments')
  expect(parseExactCall('{"name":"read","arguments":{},"why":1}')).toBe(
    'the call has more than name and arguments',
  )
})

test.each<[string]>([
  ['{"name":"read","arguments":{"path":"/a"}}'],
  ['<tool_call>\n{"name": "read", "arguments": {"path": "/a"}}\n</tool_call>'],
  ['<tool_call>{"name": "read", "arguments": {"path": "/a"}}'],
  ['<|call|>{"name":"read","arguments":{"path":"/a"}}<|end|>'],
  ['```json\n{"tool": "read", "args": {"path": "/a"}}\n```'],
  ['```\n{"tool_name": "read", "parameters": {"path": "/a"}}\n```'],
  ['{"name": "read", "input": {"path": "/a"}}'],
  ['[{"type":"function","function":{"name":"read","arguments":"{\\"path\\":\\"/a\\"}"}}]'],
  ['{"tool_calls":[{"id":"x","function":{"name":"read","arguments":"{\\"path\\":\\"/a\\"}"}}]}'],
  ['{"function":"read","arguments":{"path":"/a"}}'],
])('met in the wild: %s', (output) => {
  expect(parseCalls(output)).toEqual({ text: '', calls: [call] })
})

test('several calls with words around them', () => {
  const output =
    'First I look.\n<tool_call>{"name":"a","arguments":{}}</tool_call>\n<tool_call>{"name":"b","arguments":{}}</tool_call>'
  expect(parseCalls(output)).toEqual({
    text: 'First I look.',
    calls: [
      { name: 'a', arguments: {} },
      { name: 'b', arguments: {} },
    ],
  })
})

test.each<[string]>([
  ['It is 42.'],
  [''],
  ['{"name": "Ada", "age": 36}'],
  ['Use this:\n```json\n{"port": 8080}\n```\nand restart.'],
  ['Run\n```sh\nls\n```'],
])('an answer stays an answer: %j', (output) => {
  expect(parseCalls(output, { repair: true })).toEqual({ text: output, calls: [] })
})

test.each<[string]>([
  ["{'name': 'read', 'arguments': {'path': '/a',},}"],
  ['{"name": "read", "arguments": {"path": "/a"}'],
  ['{"name": "read", "arguments": {"path": "/a'],
  ['{name: "read", arguments: {path: "/a"}} // done'].map((text) => `<tool_call>${text}</tool_call>`) as [
    string,
  ],
  ['{"name": "read", "arguments": {"path": "/a"}}}'],
  ['```json\n{"name": "read", "arguments": "{\\"path\\": \\"/a\\",}"}\n```'],
])('damage is mended for remote models only: %s', (output) => {
  expect(parseCalls(output, { repair: true })).toEqual({ text: '', calls: [call] })
  expect(parseCalls(output)).toMatchObject({ calls: [], invalid: expect.any(String) })
})

test('an attempt that cannot be understood is invalid, not an answer', () => {
  for (const output of [
    '<tool_call>read /a</tool_call>',
    '<tool_call>{"arguments":{}}</tool_call>',
    '<tool_call>[]</tool_call>',
  ]) {
    expect(parseCalls(output, { repair: true })).toMatchObject({ calls: [], invalid: expect.any(String) })
  }
})

test('repair: Python constants, line breaks and quotes in strings', () => {
  expect(repairJson('{"a": True, "b": None, \'c\': "say \\"x\\""}')).toEqual({
    a: true,
    b: null,
    c: 'say "x"',
  })
  expect(repairJson('{"a": "one\ntwo", "b": \'it\\\'s "so"\'}')).toEqual({ a: 'one\ntwo', b: 'it\'s "so"' })
  expect(repairJson('{"a": [1, 2')).toEqual({ a: [1, 2] })
  expect(repairJson('no json')).toBeUndefined()
})

test('repair: long and deep texts take no longer than reading them', () => {
  // A quadratic search per bracket took hours.
  const values = Array.from({ length: 200_000 }, () => ({ a: 1 }))
  expect(repairJson(`[${'{a: 1, },\n '.repeat(values.length)}]`)).toEqual(values)
  expect(repairJson('['.repeat(256))).toBeDefined()
  expect(repairJson('['.repeat(257))).toBeUndefined()
  expect(repairJson(`${'['.repeat(400_000)}1,${']'.repeat(400_000)}`)).toBeUndefined()
})

test('the parser never throws and keeps valid JSON unchanged', () => {
  const pieces = fc.constantFrom(
    '<tool_call>',
    '</tool_call>',
    '```json\n',
    '```',
    '{',
    '}',
    '"',
    "'",
    '\\',
    '[',
    ']',
    ',',
    ':',
    '"name"',
    '"arguments"',
    ' ',
    'a',
    '<|call|>',
  )
  const noise = fc.oneof(
    fc.string(),
    fc.array(pieces, { maxLength: 30 }).map((list) => list.join('')),
  )
  fc.assert(
    fc.property(noise, fc.boolean(), (output, repair) => {
      const parsed = parseCalls(output, { repair })
      expect(parsed.calls.every(({ name }) => typeof name === 'string')).toBe(true)
      if (parsed.invalid !== undefined) expect(parsed.calls).toEqual([])
    }),
    { numRuns: 1000 },
  )
  // JSON.parse keeps "__proto__" as a key; toEqual would read it as the prototype.
  const args = fc.dictionary(
    fc.string().filter((key) => key !== '__proto__'),
    fc.jsonValue(),
  )
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), args, (name, given) => {
      const json = JSON.stringify({ name, arguments: given })
      const read = { name, arguments: JSON.parse(JSON.stringify(given)) as unknown }
      expect(parseExactCall(json)).toEqual(read)
      expect(JSON.stringify(repairJson(json))).toEqual(json)
    }),
  )
})

test('words that every object knows are words like any other', () => {
  for (const word of ['constructor', 'toString', '__proto__', 'hasOwnProperty']) {
    expect(repairJson(`{a: ${word}}`)).toEqual({ a: word })
    const output = `<tool_call>{name: read, arguments: {path: ${word}}}</tool_call>`
    expect(parseCalls(output, { repair: true })).toEqual({
      text: '',
      calls: [{ name: 'read', arguments: { path: word } }],
    })
  }
})

test('a call that is nested deeper than any reader can go is invalid', () => {
  const deep = `{"name":"read","arguments":{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}}`
  expect(parseExactCall(deep)).toBe('the call is not JSON')
  for (const repair of [false, true])
    expect(parseCalls(`<tool_call>${deep}</tool_call>`, { repair })).toMatchObject({
      calls: [],
      invalid: 'the call is not JSON',
    })
  expect(readArguments(deep, true)).toBeUndefined()
})

test('of many calls that are none, the first is the problem', () => {
  const output = '<tool_call></tool_call>'.repeat(20_000)
  expect(parseCalls(output, { repair: true })).toEqual({
    text: '',
    calls: [],
    invalid: 'the call is not JSON',
  })
})
