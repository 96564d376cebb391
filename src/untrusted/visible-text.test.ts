import { expect, test } from 'vitest'
import { isVisible, visibleBlock, visibleLine, visibleText } from './visible-text.ts'

test('terminal controls are escaped; letters of all languages stay', () => {
  expect(visibleText('\u001B[2J\u0007\u009B1m\u202Eabc\u2066\u2028\r\n\tb\u007F')).toBe(
    String.raw`\u001b[2J\u0007\u009b1m\u202eabc\u2066\u2028` + '\n\tb' + String.raw`\u007f`,
  )
  const harmless = 'naïve 東京 سلام می‌خواهم 👩‍💻\n\tindented'
  expect(visibleText(harmless)).toBe(harmless)
  // Also in JSON, which leaves some of them as they are.
  const value = { a: '\u202E\u009B\u007F' }
  expect(JSON.parse(visibleText(JSON.stringify(value)))).toEqual(value)
})

test('a line stays one line of bounded length, and a block cannot pass for lines of ours', () => {
  expect(visibleLine('a\nb\tc', 9)).toBe(String.raw`a\u000ab\u0009c`)
  expect(visibleLine('x'.repeat(5000), 10)).toBe('xxxxxxxxxx... (5000 characters)')
  expect(visibleBlock('one\ntwo\nthree', '  ')).toBe('one\n  two\n  three')
})

test('names with invisible characters are detected', () => {
  for (const name of ['get_weather', 'get weather', 'größe/東京']) expect(isVisible(name)).toBe(true)
  for (const name of ['a\n', 'a\u200B', 'a\u202E', '\u001B[1ma', 'a\u{E0041}', 'a\uD800'])
    expect(isVisible(name)).toBe(false)
})
