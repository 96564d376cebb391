import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readForeignFile, readForeignObject, receivedFile } from './foreign-file.ts'
import { noSecrets, redacted } from './untrusted.ts'

const folder = mkdtempSync(join(tmpdir(), 'agoge-foreign-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

function file(name: string, text: string): string {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

test('a text is read up to its bound, and not one byte more', () => {
  const path = file('five', 'a ö b')
  expect(redacted(receivedFile(path, 6), noSecrets)).toBe('a ö b')
  expect(() => receivedFile(path, 5)).toThrow(
    expect.objectContaining({ code: 'unusable-path', given: '6 bytes' }),
  )
})

test('what is no object has the message that was asked for', () => {
  expect(readForeignObject(file('config.json', '{"a": 1}'), 'bad-checkpoint')).toEqual({ a: 1 })
  for (const text of ['[1]', '{', 'null', `${'{"a":'.repeat(300)}1${'}'.repeat(300)}`])
    expect(() => readForeignObject(file('other.json', text), 'bad-checkpoint')).toThrow(
      expect.objectContaining({ code: 'bad-checkpoint' }),
    )
})

test('a check sees the text, and what it throws is thrown', () => {
  const path = file('words', 'one two')
  expect(readForeignFile(path, (text) => text.split(' ').length)).toBe(2)
  expect(() =>
    readForeignFile(path, () => {
      throw new Error('not as expected')
    }),
  ).toThrow('not as expected')
})
