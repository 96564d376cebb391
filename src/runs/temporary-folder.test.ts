import { existsSync, mkdirSync, mkdtempSync, renameSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { fastTemporaryFolder, removeFolder } from './temporary-folder.ts'

afterEach(() => {
  vi.unstubAllEnvs()
})

test('the folder that the user names comes first', () => {
  vi.stubEnv('TMPDIR', '/somewhere/else')
  expect(fastTemporaryFolder()).toBe('/somewhere/else')
})

test('what would not fit into memory is on disk', () => {
  vi.stubEnv('TMPDIR', undefined)
  expect(fastTemporaryFolder(1e9)).toBe(tmpdir())
})

test.skipIf(process.platform === 'win32')('folders deeper than the longest path are removed', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-test-'))
  // Each round puts what there is into a deeper folder, so that no path is too long while it is made.
  const name = 'd'.repeat(200)
  for (let level = 0; level < 60; level++) {
    mkdirSync(join(folder, 'next'))
    if (existsSync(join(folder, name))) renameSync(join(folder, name), join(folder, 'next', name))
    renameSync(join(folder, 'next'), join(folder, name))
  }
  await removeFolder(folder)
  expect(existsSync(folder)).toBe(false)
  await removeFolder(folder)
})
