import { expect, test } from 'vitest'
import type { McpTask } from '../mcp-task.ts'
import { identifiersOf, requestKey, revealsAnswer, whyUnfit } from './check.ts'

const task: Pick<McpTask, 'prompt' | 'expected' | 'reference'> = {
  prompt: 'What is the city of the contact whose email is ada@example.org?',
  reference: [
    { name: 'list_contacts', arguments: {} },
    { name: 'get_contact', arguments: { contactId: 'c17', limit: 5 } },
  ],
  expected: { answer: 'London', type: 'text', others: [], state: null },
}
const identifiers = identifiersOf([
  {
    name: 'get_contact',
    inputSchema: {
      properties: { contactId: {}, name: {}, filter: { properties: { zip_code: {} } } },
    },
  },
  { name: 'read-file', inputSchema: { properties: { path: {}, 'e-mail': {} } } },
  { name: 'search', inputSchema: {} },
])
const check = (request: string): string | undefined =>
  whyUnfit(request, task as McpTask, { known: new Set([requestKey(task.prompt)]), identifiers })

test('only names that nobody would write in a sentence are identifiers', () => {
  expect(identifiers).toEqual(['get_contact', 'contactId', 'zip_code', 'read-file'])
})

test('a paraphrase with the same facts passes', () => {
  expect(check('Which city does the person with the email ada@example.org live in?')).toBeUndefined()
  expect(check('city of ada@example.org pls')).toBeUndefined()
})

test('empty, invisible, long, known and revealing texts do not', () => {
  expect(check('')).toMatch('empty')
  expect(check('The city of ada@example.org\u202e?')).toMatch('cannot be shown')
  expect(check(`The city of ada@example.org, ${'please '.repeat(90)}?`)).toBe('too long')
  expect(check('what is the city of the contact whose email is ada@example.org')).toMatch('the same')
  expect(check('Is ada@example.org in london?')).toBe('reveals the answer')
  expect(check('What is the city of the contact c17?')).toMatch('looked up')
  expect(check('Use get_contact for ada@example.org: which city?')).toMatch('names a tool')
  expect(check('Which city? {"email": "ada@example.org"}')).toMatch('names a tool')
})

test('an answer is found in other notations', () => {
  const reveals = (type: 'number' | 'date' | 'list' | 'none' | 'boolean', answer: string, text: string) =>
    revealsAnswer(text, { type, answer, others: [], state: null })
  expect(reveals('number', '1250', 'Is the total 1,250, or more?')).toBe(true)
  expect(reveals('number', '3', 'I see three of them.')).toBe(true)
  expect(reveals('number', '1250', 'Is the total above 12?')).toBe(false)
  expect(reveals('date', '2026-01-05', 'Was it on 5 January 2026?')).toBe(true)
  expect(reveals('date', '2026-01-05', 'Was it in January 2026?')).toBe(false)
  expect(reveals('list', 'Ada, Grace', 'Who is there besides Grace?')).toBe(true)
  expect(reveals('boolean', 'true', 'Is it so?')).toBe(false)
  expect(reveals('none', 'there is none', 'Is there none?')).toBe(false)
})
