import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { describeFiles, readFiles, writeFiles } from './folder-snapshot.ts'

test('a snapshot taken in one place is put back exactly, there or elsewhere', () => {
  const base = mkdtempSync(join(tmpdir(), 'agoge-test-'))
  onTestFinished(() => rmSync(base, { recursive: true, force: true }))
  const places = ['one', 'two'].map((name) => [join(base, name, 'state'), join(base, name, 'log.txt')])
  mkdirSync(join(places[0][0], 'deep'), { recursive: true })
  writeFileSync(join(places[0][0], 'deep', 'a.bin'), Buffer.from([0, 255, 10]))
  const taken = readFiles(places[0])
  mkdirSync(places[1][0], { recursive: true })
  writeFileSync(join(places[1][0], 'stray'), 'x')
  writeFileSync(places[1][1], 'x')
  writeFiles(places[1], taken)
  expect([...readFileSync(join(places[1][0], 'deep', 'a.bin'))]).toEqual([0, 255, 10])
  expect(existsSync(join(places[1][0], 'stray'))).toBe(false)
  expect(existsSync(places[1][1])).toBe(false)
  expect(describeFiles(readFiles(places[1]))).toBe(describeFiles(taken))
  writeFileSync(join(places[0][0], 'deep', 'a.bin'), 'changed')
  expect(describeFiles(readFiles(places[0]))).not.toBe(describeFiles(taken))
})
