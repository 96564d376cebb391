import { expect, test } from 'vitest'
import { createRandom } from '../../../../engine/random/index.ts'
import { UnusableSchema } from '../arguments/schema-parts.ts'
import { sampleSql, verbsOf, wantedOf } from '../arguments/sql.ts'
import { wordsOf } from '../arguments/words.ts'
import type { KindPlan } from '../mcp-task.ts'
import type { AdmittedTool } from '../safety.ts'
import { goalKinds } from './kinds.ts'

const writer = (name: string): AdmittedTool => ({
  spec: { name, inputSchema: { type: 'object', properties: {} } },
  kind: 'write',
  why: '--sandbox',
})
const planOf = (tool: AdmittedTool): KindPlan => ({ name: tool.spec.name, tools: [tool] })

test('each statement of a tool that takes SQL is a kind of its own', () => {
  const kinds = goalKinds([writer('run_sql'), writer('add_note')].map(planOf), {
    hasRecords: () => false,
    takesStatements: (tool) => tool === 'run_sql',
  })
  const singles = kinds.filter(({ combinations }) => combinations[0].tools.length === 1)
  expect(singles.map(({ name, statement }) => [name, statement]).slice(0, 7)).toEqual([
    ['run_sql (insert)', 'INSERT'],
    ['run_sql (update)', 'UPDATE'],
    ['run_sql (delete)', 'DELETE'],
    ['run_sql (create)', 'CREATE'],
    ['add_note', undefined],
    ['run_sql (rows)', 'ROWS'],
    ['run_sql (aggregate)', 'AGGREGATE'],
  ])
})

test('a kind of one statement draws that one, and none of a tool that does not take it', () => {
  const table = {
    name: 'orders',
    columns: [{ name: 'id', kind: 'integer' as const, generated: true }],
    rows: [{ id: 1 }],
  }
  const verbs = verbsOf('runs a SELECT, INSERT or DELETE statement')
  const random = createRandom(1)
  for (let draw = 0; draw < 20; draw++)
    expect(sampleSql(wantedOf(verbs, 'DELETE'), [table], wordsOf('train'), random)).toMatch(/^DELETE /)
  for (let draw = 0; draw < 20; draw++) {
    const drawn = (wants: 'ROWS' | 'AGGREGATE'): string =>
      sampleSql(wantedOf(verbs, wants), [table], wordsOf('train'), random)
    expect(drawn('ROWS')).toMatch(/^SELECT (?:\*|id) FROM /)
    expect(drawn('AGGREGATE')).toMatch(/^SELECT (?:COUNT|SUM|MIN|MAX|AVG)\(/)
  }
  expect(() => wantedOf(verbs, 'CREATE')).toThrow(UnusableSchema)
  expect(() => wantedOf(['INSERT'], 'ROWS')).toThrow(UnusableSchema)
  expect(verbsOf('Run queries with support for: INSERT, DELETE and READ operations')).toEqual([
    'SELECT',
    'INSERT',
    'DELETE',
  ])
})
