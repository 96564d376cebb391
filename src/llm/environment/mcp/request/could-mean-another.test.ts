import { expect, test } from 'vitest'
import { createRandom } from '../../../../engine/random/index.ts'
import type { ToolSpec } from '../../../tool/tool.ts'
import { couldMeanAnother } from './could-mean-another.ts'
import { renderRequest } from './request.ts'
import { speechOf } from './step-words.ts'

const text = { type: 'string' }
const tool = (name: string, properties: Record<string, object>): ToolSpec => ({
  name,
  description: '',
  inputSchema: { type: 'object', properties, required: Object.keys(properties) },
})
const speech = speechOf([
  tool('list_directory', { path: text }),
  tool('list_directory_with_sizes', { path: text }),
  tool('read_file', { path: text }),
  tool('read_multiple_files', { paths: { type: 'array', items: text } }),
  tool('get_users', { city: text }),
  tool('get_user', { city: text }),
])

test('a tool whose name says how it differs is asked for so, and the other is not', () => {
  for (let seed = 0; seed < 200; seed++) {
    const ask = (name: string): string | undefined =>
      renderRequest(
        speech,
        [{ tool: name, arguments: { path: '/work' } }],
        { form: 'line', which: 'last' },
        'train',
        createRandom(seed),
        false,
      )
    expect(ask('list_directory_with_sizes')).toContain('with sizes')
    expect(ask('list_directory')).not.toContain('sizes')
  }
})

test('what two tools could be asked for with the same words and values is found', () => {
  const could = (name: string, args: Record<string, unknown>): boolean =>
    couldMeanAnother(speech, { tool: name, arguments: args })
  expect(could('get_users', { city: 'Bern' })).toBe(true)
  expect(could('get_user', { city: 'Bern' })).toBe(true)
  expect(could('read_multiple_files', { paths: ['a.txt'] })).toBe(true)
  expect(could('read_multiple_files', { paths: ['a.txt', 'b.txt'] })).toBe(false)
  expect(could('read_file', { path: 'a.txt' })).toBe(false)
  expect(could('list_directory', { path: 'a' })).toBe(false)
  expect(could('list_directory_with_sizes', { path: 'a' })).toBe(false)
})
