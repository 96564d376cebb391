import { checkToolEnvironment } from 'agoge'
import { expect, test } from 'vitest'
import { environment } from './todo.ts'

test('experts succeed, idle play fails, splits are disjoint', async () => {
  const { kinds } = await checkToolEnvironment(environment)
  expect(Object.keys(kinds)).toEqual(['add', 'finish', 'count', 'replace'])
})
