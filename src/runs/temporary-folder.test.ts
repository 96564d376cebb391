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

test('without one it is in memory or that of the system', () => {
  vi.stubEnv('TMPDIR', undefined)
  expect(['/dev/shm', tmpdir()]).toContain(fastTemporaryFolder())
})

test('what would not fit into memory is on disk', () => {
  vi.stubEnv('TMPDIR', undefined)
  expect(fastTemporaryFolder(1e9)).toBe(tmpdir())
})
