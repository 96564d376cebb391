import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import type { AuditReport } from '../../llm/audit/audit.ts'
import { agoge } from '../testing/agoge.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
mkdirSync(join(root, '.agoge'), { recursive: true })
// Inside the package, where a module can import 'agoge'.
const folder = mkdtempSync(join(root, '.agoge', 'test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const todo = readFileSync(join(root, 'examples', 'todo.ts'), 'utf8')
const write = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}

test.each([
  ['filesystem', '100'],
  ['adventure', '100'],
  ['reasoning', '200'],
  [write('todo.ts', todo), '100'],
])('no attack on %s is rewarded for undone tasks', async (environment, tasks) => {
  const { code, out } = await agoge('audit', environment, '--tasks', tasks, '--json')
  const report = JSON.parse(out) as AuditReport
  expect(report.findings).toEqual([])
  for (const { name, rate } of report.attacks) {
    expect(rate.n, name).toBeGreaterThanOrEqual(Number(tasks) * 0.9)
    expect(rate.mean, name).toBeLessThan(0.02)
  }
  expect(code).toBe(0)
})

test('a judge that counts the items is found: exit code 2, an example, the report in a file', async () => {
  const judge = 'judge: ({ state, goal, answered }) => answered && state.items.length === goal.items.length,'
  const counting = write('counting.ts', todo.replace("name: 'todo',", `name: 'counting', ${judge}`))
  const file = join(folder, 'report.json')
  const { code, out } = await agoge('audit', counting, '--tasks', '24', '--json', file)
  expect(code).toBe(2)
  expect(out).toMatch(/^! change an argument/m)
  expect(out).toMatch(/^ +example: counting\/test\//m)
  const report = JSON.parse(readFileSync(file, 'utf8')) as AuditReport
  expect(report.findings).toContain('change an argument')
})

test('a module says itself what is done', async () => {
  const lenient = write('lenient.ts', `${todo}\nexport const done = () => false\n`)
  const { code, out } = await agoge('audit', lenient, '--tasks', '8')
  expect(out).toContain('function `done` of your module')
  // Nothing is ever done, so even what random search reaches by luck is a finding, but refusing is not rewarded.
  expect(out).toMatch(/^ {2}always refuse +0%/m)
  expect([0, 2]).toContain(code)
})
