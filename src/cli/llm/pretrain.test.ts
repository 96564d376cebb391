import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { checkModelFolder } from './pretrain.ts'

let root: string

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'agoge-model-'))
})

afterEach(() => rmSync(root, { recursive: true, force: true }))

test('a folder with anything of somebody else is refused: the model would take its place', () => {
  const folder = join(root, 'model')
  checkModelFolder(folder, false)
  expect(readdirSync(root)).toEqual([])
  mkdirSync(join(folder, 'checkpoints', 'general-finished'), { recursive: true })
  for (const name of ['README.md', 'config.json', join('checkpoints', 'decisions')])
    writeFileSync(join(folder, name), '')
  checkModelFolder(folder, true)
  writeFileSync(join(folder, 'checkpoints', 'mine.txt'), '')
  expect(() => checkModelFolder(folder, true)).toThrow(/other things than a model: checkpoints.mine\.txt/)
  rmSync(join(folder, 'checkpoints'), { recursive: true })
  writeFileSync(join(folder, 'thesis.tex'), '')
  expect(() => checkModelFolder(folder, false)).toThrow(
    expect.objectContaining({ code: 'folder-not-empty', message: expect.stringContaining('thesis.tex') }),
  )
})

test('a finished model is replaced by nothing but a resumed call', () => {
  writeFileSync(join(root, 'model.safetensors'), '')
  expect(() => checkModelFolder(root, false)).toThrow(expect.objectContaining({ code: 'model-exists' }))
  checkModelFolder(root, true)
})
