import { expect, test } from 'vitest'
import { correctionsOf, saysFailure } from './error-hints.ts'
import type { Hints } from './hints.ts'

interface Case {
  error: string
  args?: Record<string, unknown>
  names?: string[]
  expected: Record<string, Hints>
}

/** Texts of real servers and validators. */
const cases: Case[] = [
  {
    // @modelcontextprotocol/server-everything
    error:
      'MCP error -32602: Input validation error: Invalid arguments for tool get-structured-content: Invalid option: expected one of "New York"|"Chicago"|"Los Angeles" at location',
    expected: { location: { values: ['New York', 'Chicago', 'Los Angeles'] } },
  },
  {
    error:
      'MCP error -32602: Input validation error: Invalid arguments for tool get-resource-links: Too big: expected number to be <=10 at count',
    expected: { count: { high: 10 } },
  },
  {
    error: 'Invalid resourceId: -1. Must be a finite positive integer.',
    args: { resourceId: -1 },
    names: ['resourceType', 'resourceId'],
    expected: { resourceId: {} },
  },
  {
    // time-mcp
    error:
      'MCP error -32602: Input validation error: Invalid arguments for tool convert_time: Invalid input: expected string, received undefined at targetTimezone\nInvalid input: expected string, received undefined at time',
    expected: { targetTimezone: { required: true }, time: { required: true } },
  },
  {
    // zod 3 in older SDKs
    error:
      'MCP error -32602: Invalid arguments for tool find: [\n  {\n    "code": "invalid_enum_value",\n    "options": ["asc", "desc"],\n    "path": ["order"],\n    "message": "Invalid enum value"\n  },\n  { "code": "too_big", "maximum": 100, "type": "number", "path": ["filter", "limit"], "message": "Number must be less than or equal to 100" }\n]',
    expected: { order: { values: ['asc', 'desc'] }, 'filter.limit': { high: 100 } },
  },
  {
    // zod 4, prettified
    error: '✖ Invalid input: expected string, received undefined\n  → at items[0].name',
    expected: { 'items[].name': { required: true } },
  },
  {
    // Ajv
    error: 'data/unit must be equal to one of the allowed values: km, mi, data/count must be >= 1',
    expected: { unit: { values: ['km', 'mi'] } },
  },
  { error: 'data/count must be >= 1', expected: { count: { low: 1 } } },
  { error: '/code must match pattern "^[A-Z]{3}$"', expected: { code: { pattern: '^[A-Z]{3}$' } } },
  {
    // pydantic
    error:
      '1 validation error for Query\nstart_date\n  Field required [type=missing, input_value={}, input_type=dict]',
    expected: { start_date: { required: true } },
  },
  {
    // @modelcontextprotocol/server-filesystem
    error: 'Cannot specify both head and tail parameters simultaneously',
    args: { path: 'a.txt', head: 1, tail: 2 },
    names: ['path', 'head', 'tail'],
    expected: { tail: { forbidden: true } },
  },
  {
    // @playwright/mcp
    error: 'Provide only one of "text" or "regex", not both.',
    args: { text: 'river', regex: 'lake' },
    names: ['text', 'regex'],
    expected: { regex: { forbidden: true } },
  },
  {
    error: 'Error: Either time, text or textGone must be provided',
    names: ['time', 'text', 'textGone'],
    expected: { text: { required: true } },
  },
  {
    // mcp-shrimp-task-manager
    error:
      'Task with ID `DF2b` could not be found. Please use the "list_tasks" tool to confirm valid task IDs',
    args: { taskId: 'DF2b' },
    expected: { taskId: { existing: true } },
  },
  {
    error: 'Access denied - path outside allowed directories: /x/b.txt not in /tmp/root',
    args: { path: '/x/b.txt' },
    expected: { path: { folder: '/tmp/root' } },
  },
  {
    error: "ENOENT: no such file or directory, open '/tmp/root/zz.txt'",
    args: { path: 'zz.txt' },
    expected: { path: { existing: true } },
  },
  {
    error: 'Destination already exists: /tmp/root/b.txt',
    args: { source: 'a.txt', destination: 'b.txt' },
    expected: { destination: { existing: false } },
  },
  {
    error: 'Could not find exact match for edit:\nsour scarf',
    args: { path: 'a.txt', edits: [{ oldText: 'sour scarf', newText: 'x' }] },
    expected: { 'edits[].oldText': { existing: true } },
  },
  {
    // @modelcontextprotocol/server-memory
    error: 'Entity with name stream not found',
    args: { observations: [{ entityName: 'stream', contents: ['quiet'] }] },
    expected: { 'observations[].entityName': { existing: true } },
  },
  {
    // mcp-sqlite
    error: 'Error reading records: Table "zz" does not exist',
    args: { table: 'zz' },
    expected: { table: { existing: true } },
  },
  {
    error: "Invalid date format for 'due'. Expected YYYY-MM-DD.",
    args: { due: 'river' },
    names: ['due'],
    expected: { due: {} },
  },
  {
    error: 'Unknown project "wolf". Did you mean "wool"?',
    args: { project: 'wolf' },
    names: ['project'],
    expected: { project: { existing: true } },
  },
  {
    error: "Parameter 'unit' must be one of: celsius, fahrenheit, kelvin",
    args: { unit: 'river' },
    names: ['value', 'unit'],
    expected: { unit: { values: ['celsius', 'fahrenheit', 'kelvin'] } },
  },
  {
    error: 'limit must be between 1 and 50',
    args: { limit: 99 },
    names: ['limit'],
    expected: { limit: { low: 1, high: 50 } },
  },
]

test.each(cases)('$error', ({ error, args = {}, names = [], expected }) => {
  const found = Object.fromEntries(correctionsOf(error, args, names))
  expect(found).toMatchObject(expected)
})

test('a sentence that rules out a property names no values, and an unknown value is no suggestion', () => {
  const both = 'Provide only one of "text" or "regex", not both.'
  expect(correctionsOf(both, { text: 'river', regex: 'lake' }, ['text', 'regex']).get('text')).toBeUndefined()
  const unknown = correctionsOf('Unknown key: "laptop-60"', { key: 'laptop-60' }, ['key'])
  expect(unknown.get('key')).not.toHaveProperty('examples')
})

test('a message that names nothing of the call teaches nothing', () => {
  expect(correctionsOf('fetch failed', { url: 'https://example.com/x' }, ['url']).size).toBe(0)
  expect(correctionsOf('Internal server error', { a: 1 }, ['a']).size).toBe(0)
})

test('an error message of a hostile server is read in a moment', () => {
  const names = Array.from({ length: 200 }, (_, index) => `name${index}`)
  for (const piece of [
    '"',
    'e.g. ',
    'one of: a, ',
    '(a|',
    'at a.',
    'between 1 ',
    ': \n',
    'expected one of "',
    '[{',
    "'a' or ",
  ])
    correctionsOf(piece.repeat(4000), { name1: 'a', name2: piece.repeat(100) }, names)
})

test('a failure that is returned as a result is recognised, an answer that sounds like one is not', () => {
  for (const text of [
    'Error: no such file',
    'TypeError: x is not a function',
    'Invalid time zone specified: Mars/X',
    'The timestamp of grape (parsed as UTC) is NaN ms.',
    'Current time in UTC is Invalid Date.',
    '{"error":"not found"}',
    '{"success":false}',
    'Failed to open the page',
    'Task 5 not found',
    '# Task Deletion Result\n\n## System Error\n\nno such task',
  ])
    expect(saysFailure(text), text).toBe(true)
  for (const text of [
    '{"error":null,"rows":[]}',
    'The sum of 1 and 2 is 3',
    'Stopped logging for session undefined',
    'Error reports: 3',
    '',
    'No tasks yet',
  ])
    expect(saysFailure(text), text).toBe(false)
  expect(saysFailure('Echo: invalid', { message: 'invalid' })).toBe(false)
})

test('properties that a sentence calls required are given from then on', () => {
  const names = ['operation', 'where', 'data', 'objectType', 'objectName']
  const required = (error: string): string[] =>
    [...correctionsOf(error, {}, names)].flatMap(([path, hints]) => (hints.required === true ? [path] : []))
  expect(required('Error: MCP error -32602: WHERE clause is required for a safe deletion')).toEqual(['where'])
  expect(required('objectType and objectName are required')).toEqual(['objectType', 'objectName'])
  expect(required('A key is required')).toEqual([])
})
