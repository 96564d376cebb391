import { expect, test } from 'vitest'
import type { McpTask } from '../mcp-task.ts'
import { draftMessage, readParaphrases, styles } from './drafts.ts'

const tools = [
  { name: 'get_person', description: 'Get a person', inputSchema: { type: 'object' } },
  { name: 'wipe_all', description: 'Wipes', inputSchema: { type: 'object' } },
]
const task: McpTask = {
  id: 't',
  kind: 'get_person',
  seed: 0,
  split: 'train',
  prompt: 'How old is Ada?',
  difficulty: 1,
  context: { changes: false },
  plan: () => ({ answer: '36' }),
  seeds: [{ name: 'add_person', arguments: { name: 'Ada' } }],
  reference: [{ name: 'get_person', arguments: { name: 'Ada' } }],
  expected: {
    answer: '36',
    type: 'number',
    others: ['London'],
    state: '{"people":[{"name":"Ada","age":36}]}',
  },
}

test('the teacher sees the request, what was there and the calls, but not the answer', () => {
  const message = draftMessage(task, tools)
  expect(message).toContain('\nHow old is Ada?\n')
  expect(message).toContain('1. add_person {"name":"Ada"}')
  expect(message).toContain('1. get_person {"name":"Ada"}')
  expect(message).toContain('(get_person: Get a person)')
  expect(message).toContain('The answer is a number')
  expect(message).not.toMatch(/36|London|wipe_all/)
  for (const style of Object.keys(styles)) expect(message).toContain(`- ${style}: `)
})

test('of a change, the teacher sees the state at the end, up to a length', () => {
  const state = `{"people":[]}${' '.repeat(2000)}end`
  const changed = { ...task, context: { changes: true }, expected: { answer: null, others: [], state } }
  const message = draftMessage(changed, tools)
  expect(message).toContain('At the end the tools show: {"people":[]}')
  expect(message).not.toContain('end\n')
})

test('a reply is read in a fence, after reasoning, damaged, cut off', () => {
  const two = [
    { style: 'terse', request: 'Ada: age?' },
    { style: 'rude', request: 'Say\n how old  Ada is.' },
  ]
  const read = [
    { style: 'terse', request: 'Ada: age?' },
    { style: 'other', request: 'Say how old Ada is.' },
  ]
  const json = JSON.stringify(two)
  for (const reply of [
    json,
    `\`\`\`json\n${json}\n\`\`\`\nI hope this helps [1].`,
    `<think>[{"style": "no"}]</think>Here [they] are: ${json}`,
    json.replaceAll('"', "'").replace('}]', '},]'),
  ])
    expect(readParaphrases(reply), reply).toEqual(read)
  expect(readParaphrases(json.slice(0, -12), true)).toEqual(read.slice(0, 1))
})

test('a reply without a list of requests is none', () => {
  for (const reply of ['', 'I cannot do that.', '[]', '["Ada: age?"]', '[{"style": "terse"}]', '[{'])
    expect(readParaphrases(reply), reply).toBeUndefined()
})
