import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { createConnection } from 'node:net'
import { expect, test } from 'vitest'
import { AgogeError } from '../error.ts'
import { asFileError, fileErrorCode, withFileErrors, withFileErrorsAsync } from './file-error.ts'

test.skipIf(!existsSync('/dev/full'))('a full disk is reported by path, reason and repair', async () => {
  const full = expect.objectContaining({
    message: 'Cannot write or read /dev/full: the disk is full (ENOSPC)',
    given: '/dev/full',
    hint: expect.stringContaining('Make room'),
  })
  const write = () => writeFileSync('/dev/full', 'text')
  expect(() => withFileErrors('/dev/full', write)).toThrow(full)
  // Others wrap the system's error in their own, which says less.
  const wrapped = withFileErrorsAsync('/dev/full', async () => {
    try {
      write()
    } catch (cause) {
      throw new AgogeError('not saved', { code: 'bad-argument', cause })
    }
  })
  await expect(wrapped).rejects.toEqual(full)
})

test('what is no file error stays as it is', async () => {
  const plain = new TypeError('odd')
  expect(asFileError('/x', plain)).toBe(plain)
  expect(fileErrorCode(spawnSync('/nowhere/at-all').error)).toBeUndefined()
  const [refused] = (await once(createConnection('/nowhere/socket'), 'error')) as [Error]
  expect(refused).toMatchObject({ code: 'ENOENT' })
  expect(fileErrorCode(refused)).toBeUndefined()
  expect(() => withFileErrors('/nowhere/file', () => readFileSync('/nowhere/file'))).toThrow(/no such file/)
  const own = new AgogeError('not saved', { code: 'bad-argument' })
  await expect(withFileErrorsAsync('/x', () => Promise.reject(own))).rejects.toBe(own)
})
