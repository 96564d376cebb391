import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { keepLines } from './kept-lines.ts'

const folder = mkdtempSync(join(tmpdir(), 'agoge-kept-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
let count = 0
const newFile = (): string => join(folder, `${count++}.jsonl`)
const of = { id: 'carl', seeds: 3 }

function keptFile(): string {
  const file = newFile()
  const kept = keepLines(file, of, { resume: false })
  kept.keep({ seed: 1, score: 0.5 })
  kept.keep({ seed: 2, score: 0.25 })
  return file
}

test('what was kept is there after a stop, without the line that was being written', () => {
  const file = keptFile()
  appendFileSync(file, '{"seed":3,"sco')
  const again = keepLines(file, of, { resume: true })
  expect(again.earlier).toEqual([
    { seed: 1, score: 0.5 },
    { seed: 2, score: 0.25 },
  ])
  again.keep({ seed: 3, score: 0 })
  expect(keepLines(file, of, { resume: true }).earlier).toHaveLength(3)
  again.remove()
  expect(existsSync(file)).toBe(false)
})

test('without a file a resumed call begins anew', () => {
  expect(keepLines(newFile(), of, { resume: true }).earlier).toEqual([])
})

test('nothing is overwritten and nothing of another kind is used', () => {
  const file = keptFile()
  expect(() => keepLines(file, of, { resume: false })).toThrow(/holds what a stopped call has finished/)
  expect(() => keepLines(file, { ...of, seeds: 4 }, { resume: true })).toThrow(/is of something else/)
})

test.each([
  ['a digit that flipped', (text: string) => text.replace('0.25', '0.26'), /is damaged/],
  ['a first line that is gone', (text: string) => text.slice(text.indexOf('\n') + 1), /is of something else/],
  ['an empty file', () => '', /is damaged/],
])('%s is said', (_, change, message) => {
  const file = keptFile()
  writeFileSync(file, change(readFileSync(file, 'utf8')))
  expect(() => keepLines(file, of, { resume: true })).toThrow(message)
})
