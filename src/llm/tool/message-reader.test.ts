import type { JSONRPCMessage } from '@modelcontextprotocol/client'
import { expect, test } from 'vitest'
import { createMessageReader } from './message-reader.ts'

function reading() {
  const seen: unknown[] = []
  const turns = { count: 0 }
  const reader = createMessageReader({
    onMessage: (message: JSONRPCMessage) => seen.push('id' in message ? message.id : message),
    onError: () => seen.push('no message'),
    onRefused: (why) => seen.push(why),
    onFull: (full) => {
      if (full) turns.count++
    },
  })
  const end = (): Promise<void> => new Promise((resolve) => reader.end(resolve))
  return { seen, turns, reader, end }
}

const line = (id: number, result: unknown = {}): string =>
  `${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`

test('messages come one a line, wherever the chunks are cut, between lines of other programs', async () => {
  const { seen, reader, end } = reading()
  const text = `starting\r\n\n${line(1)}[1]\n{no}\n{"jsonrpc":"1.0"}\n${line(2, { text: 'ä€😀' })}null\n${line(3)}{"json`
  for (const byte of Buffer.from(text)) reader.push(Buffer.from([byte]))
  await end()
  expect(seen).toEqual([1, 'no message', 2, 3])
})

test('a flood of lines is read in turns, and what comes after it is read as well', async () => {
  const { seen, turns, reader, end } = reading()
  for (const flood of ['\n', '1\n', '{x\n']) reader.push(Buffer.from(flood.repeat(500_000)))
  reader.push(Buffer.from(line(1)))
  expect([turns.count, seen]).toEqual([1, []])
  await end()
  expect(turns.count).toBeGreaterThan(1)
  expect(seen).toEqual([1])
})

test('a line that is too long or has too many values ends the reading', async () => {
  for (const [text, why] of [
    ['x'.repeat(10_000_001), 'it sent a line of more than 10000000 bytes'],
    [line(1, { all: Array(250_001).fill(0) }), 'it sent a message of more than 250000 values'],
  ]) {
    const { seen, reader, end } = reading()
    reader.push(Buffer.from(`${text}${line(2)}`))
    reader.push(Buffer.from(line(3)))
    await end()
    expect(seen).toEqual([why])
  }
})

test('commas inside of a text are no values', async () => {
  const { seen, reader, end } = reading()
  reader.push(Buffer.from(line(1, { text: '\\",[{'.repeat(200_000) })))
  await end()
  expect(seen).toEqual([1])
})
