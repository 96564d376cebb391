import { expect, test } from 'vitest'
import { openFilesProblem } from './open-files.ts'

const limits = (files: string): string =>
  `Limit                     Soft Limit           Hard Limit           Units\nMax open files            ${files}                 1048576              files\n`

test('too few open files are an error that says how to raise the limit', () => {
  expect(openFilesProblem(limits('24'))).toMatch(/given: +24\n.*128 or more\n.*ulimit -n/)
  for (const enough of ['128', '1024', 'unlimited']) expect(openFilesProblem(limits(enough))).toBeUndefined()
  expect(openFilesProblem('')).toBeUndefined()
})

test('this process may open enough', () => {
  expect(openFilesProblem()).toBeUndefined()
})
