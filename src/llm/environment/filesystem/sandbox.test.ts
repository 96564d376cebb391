import { expect, test } from 'vitest'
import { presentResult } from './sandbox.ts'

const root = '/tmp/agoge-filesystem-x/e12'
const shown = (tool: string, text: string): string => presentResult(tool, { text, isError: false }, root).text
const failed = (text: string): string => presentResult('any', { text, isError: true }, root).text

test('the place of the sandbox becomes /', () => {
  expect(shown('write_file', `Successfully wrote to ${root}/notes/a.txt`)).toBe(
    'Successfully wrote to /notes/a.txt',
  )
  expect(shown('create_directory', `Successfully created directory ${root}`)).toBe(
    'Successfully created directory /',
  )
})

test('listings are sorted, also within a tree', () => {
  expect(shown('list_directory', '[FILE] b\n[DIR] z\n[FILE] a')).toBe('[DIR] z\n[FILE] a\n[FILE] b')
  expect(shown('search_files', `${root}/b.txt\n${root}/a/c.txt`)).toBe('/a/c.txt\n/b.txt')
  const tree = [
    {
      name: 'b',
      type: 'directory',
      children: [
        { name: 'z', type: 'file' },
        { name: 'y', type: 'file' },
      ],
    },
    { name: 'a', type: 'file' },
  ]
  expect(shown('directory_tree', JSON.stringify(tree, null, 2))).toBe(
    '[{"name":"a","type":"file"},{"name":"b","type":"directory","children":[{"name":"y","type":"file"},{"name":"z","type":"file"}]}]',
  )
})

test('a text that was read stays as it is', () => {
  expect(shown('read_text_file', 'b\na\n')).toBe('b\na\n')
})

test('errors are short and the same everywhere', () => {
  expect(failed(`ENOENT: no such file or directory, open '${root}/notes/a.txt'`)).toBe(
    'error: no such file or directory: /notes/a.txt',
  )
  expect(
    failed(`ENOENT: no such file or directory, open '${root}/a.0123456789abcdef0123456789abcdef.tmp'`),
  ).toBe('error: no such file or directory: /a')
  expect(failed('EISDIR: illegal operation on a directory, read')).toBe(
    'error: illegal operation on a directory',
  )
  expect(failed(`Access denied - path outside allowed directories: /x not in /tmp`)).toBe(
    'error: access denied',
  )
  expect(failed('Could not find exact match for edit:\nred')).toBe('error: the old text is not in the file')
  expect(
    failed('MCP error -32602: Input validation error: Invalid arguments for tool read_text_file: [...]'),
  ).toBe('error: invalid arguments for read_text_file')
  expect(failed(`Destination already exists: ${root}/b.txt`)).toBe(
    'error: destination already exists: /b.txt',
  )
})
