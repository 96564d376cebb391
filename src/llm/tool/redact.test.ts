import { expect, test } from 'vitest'
import { AgogeError } from '../../error.ts'
import { createRedactor, redactError, redactToolbox } from './redact.ts'

const configs = [
  {
    command: 'a',
    env: { API_KEY: 'sk-live-"42"', DEBUG: 'true', LEVEL: 'verbose', PORT: '8080', DB_PASS: 'fish' },
  },
  {
    url: 'https://u:pa%24sword@example.com/mcp?token=qwerty99',
    headers: { Authorization: 'Bearer abc.def+ghi' },
  },
]
const redactor = createRedactor(configs)

test('values are found in every form, also inside JSON, addresses and base64', () => {
  expect(redactor.text('key sk-live-"42"!')).toBe('key [redacted]!')
  expect(redactor.text(JSON.stringify({ key: 'sk-live-"42"' }))).toBe('{"key":"[redacted]"}')
  expect(redactor.text(`?k=${encodeURIComponent('abc.def+ghi')}`)).toBe('?k=[redacted]')
  expect(redactor.text(`basic ${btoa('abc.def+ghi')}`)).not.toContain(btoa('abc.def+ghi').replace(/=+$/, ''))
  expect(redactor.text('Bearer abc.def+ghi; abc.def+ghi')).toBe('[redacted]; [redacted]')
  expect(redactor.text('fish, pa$sword and qwerty99')).toBe('[redacted], [redacted] and [redacted]')
  // The dot of the value is no wildcard.
  expect(redactor.text('abcxdef+ghi')).toBe('abcxdef+ghi')
})

test('common words and small numbers are left alone', () => {
  const text = 'it is true that port 8080 is verbose'
  expect(redactor.text(text)).toBe(text)
})

test('plain data is copied, keys included; typed arrays pass as they are', () => {
  const tokens = Int32Array.of(1, 2)
  const given = { a: ['fish', 1, null], fish: { b: 'no' }, tokens }
  const redacted = redactor.data(given)
  expect(redacted).toEqual({ a: ['[redacted]', 1, null], '[redacted]': { b: 'no' }, tokens })
  expect(redacted.tokens).toBe(tokens)
  expect(given.a[0]).toBe('fish')
})

test('what came by ${VAR} is redacted wherever it stood, common words too; shorter than four characters it is not', () => {
  const expanded = ['tok-5c1dca5e', 'debug', '4711', 'abc']
  const args = ['--header', 'Authorization: Bearer tok-5c1dca5e', '--level', 'debug', '--plain', 'visible']
  const npx = createRedactor([{ command: 'npx', args, expanded }])
  expect(npx.text(args.join(' '))).toBe(
    '--header Authorization: Bearer [redacted] --level [redacted] --plain visible',
  )
  expect(npx.text('4711 abc')).toBe('[redacted] abc')
})

test('values may be of any size, and parts of one another or of the mark itself', () => {
  const large = 'wide '.repeat(20_000)
  const several = createRedactor([
    { command: 'a', env: { LARGE: large, TOKEN: 'acted', KEY: 'sk-1234', LONG_KEY: 'sk-1234-5678' } },
  ])
  expect(several.text(`${large}, acted, sk-1234-5678 and sk-1234`)).toBe(
    '[redacted], [redacted], [redacted] and [redacted]',
  )
})

test('without configured values nothing is changed', () => {
  expect(createRedactor([]).text('sk-live')).toBe('sk-live')
})

test('a redacted toolbox shows the policy no secrets', async () => {
  const toolbox = redactToolbox(
    {
      specs: [
        {
          name: 'env',
          description: 'as fish',
          inputSchema: { type: 'object', properties: { fish: { enum: ['fish'] } } },
        },
        { name: 'read_fish', inputSchema: { type: 'object' } },
      ],
      call: () => Promise.resolve({ text: 'env: fish', isError: false, structured: { e: 'fish' } }),
    },
    redactor,
  )
  expect(await toolbox.call('env', {})).toEqual({
    text: 'env: [redacted]',
    isError: false,
    structured: { e: '[redacted]' },
  })
  expect(toolbox.specs).toEqual([
    {
      name: 'env',
      description: 'as [redacted]',
      inputSchema: { type: 'object', properties: { '[redacted]': { enum: ['[redacted]'] } } },
    },
  ])
})

test('an error is redacted in all its fields, and keeps no cause that says what is hidden', () => {
  const redact = (text: string): string => redactor.text(text)
  const error = new AgogeError('no fish', {
    code: 'bad-argument',
    given: ['fish'],
    expected: 'a fish',
    hint: 'buy fish',
    cause: new Error('fish'),
  })
  const redacted = redactError(error, redact)
  expect(redacted).toMatchObject({
    message: 'no [redacted]',
    code: 'bad-argument',
    given: ['[redacted]'],
    expected: 'a [redacted]',
    hint: 'buy [redacted]',
  })
  expect(redacted.cause).toBeUndefined()
  const clean = new AgogeError('no meat', { code: 'bad-argument', cause: new Error('no shop') })
  expect(redactError(clean, redact)).toBe(clean)
})
