import { tmpdir } from 'node:os'
import { afterEach, expect, test, vi } from 'vitest'
import { fastTemporaryFolder } from './temporary-folder.ts'

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
