import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { createLineReader } from './line-reader.ts'

function open(isTTY: boolean) {
  const input = Object.assign(new PassThrough(), { isTTY })
  const output = new PassThrough()
  return { input, output, lines: createLineReader(new AbortController().signal, input, output) }
}

/** Until what was written has been read as lines. */
const read = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

test('a question of consent takes no line that came before it', async () => {
  const { input, lines } = open(true)
  input.write('first\nyes\nthird\n')
  expect(await lines.ask('> ')).toBe('first')
  await read()
  const allowed = lines.confirm('Carry it out? ')
  input.write('y\n')
  expect(await allowed).toBe(true)
  expect(await lines.ask('> ')).toBe('yes')
  expect(await lines.ask('> ')).toBe('third')
  const refused = lines.confirm('Carry it out? ')
  input.write('\n')
  expect(await refused).toBe(false)
  lines.close()
  expect(await lines.confirm('Carry it out? ')).toBe(false)
  expect(await lines.ask('> ')).toBe(null)
})

test('where the input is no terminal nobody is asked, and all lines stay', async () => {
  const { input, output, lines } = open(false)
  input.end('yes\ny\n')
  await read()
  expect(await lines.confirm('Carry it out? ')).toBe(false)
  expect(output.read()).toBe(null)
  expect([await lines.ask(''), await lines.ask(''), await lines.ask('')]).toEqual(['yes', 'y', null])
  lines.close()
})
