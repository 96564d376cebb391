import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { agoge } from '../testing/agoge.ts'

const root = fileURLToPath(new URL('../../..', import.meta.url))
mkdirSync(join(root, '.agoge'), { recursive: true })
// Inside the package, where a module can import 'agoge'.
const folder = mkdtempSync(join(root, '.agoge', 'test-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))
const todo = join(folder, 'todo.ts')
// With few demonstrations: what comes of a training stands in docs/guides/tool-environments.md.
const text = readFileSync(join(root, 'examples', 'todo.ts'), 'utf8').replace(
  "name: 'todo',",
  "name: 'todo', demonstrations: 8,",
)
writeFileSync(todo, text)
const run = join(folder, 'run')

test('a module made by defineToolEnvironment is listed, trained on, resumed and evaluated', async () => {
  expect((await agoge('envs', todo)).out).toMatch(/^todo: .*\nkinds of tasks: add, finish, count, replace$/m)
  const trained = await agoge('train', todo, '--quick', '--steps', '1', '--tasks', '12', '--out', run)
  expect(trained.err).not.toContain('error:')
  const { stages } = JSON.parse(readFileSync(join(run, 'summary.json'), 'utf8')) as {
    stages: { name: string; success: { mean: number } }[]
  }
  expect(stages.map(({ name }) => name)).toEqual(['base', 'warm-start', 'rl'])
  expect(stages[0].success.mean).toBe(0)
  expect(JSON.parse(readFileSync(join(run, 'config.json'), 'utf8'))).toMatchObject({
    environment: 'todo',
    environmentFile: todo,
    plan: { demonstrations: { add: 8, finish: 8, count: 8, replace: 8 } },
  })
  expect(await agoge('train', todo, '--resume', run)).toMatchObject({ code: 0 })
  const evaluated = await agoge('eval', todo, '--model', run, '--tasks', '8')
  expect(evaluated.out).toMatch(/^success +\d+%/m)
})

test('options that do not apply are refused, and so is resuming on other tasks', async () => {
  expect((await agoge('train', todo, '--preset', 'cleanrl')).err).toContain('--preset means nothing')
  expect((await agoge('play', todo)).err).toContain('agoge chat')
  writeFileSync(todo, text.replaceAll('[Add|Put]', '[Write|Note]'))
  const { stderr } = spawnSync(
    process.execPath,
    [join(root, 'dist', 'cli', 'main.js'), 'train', '--resume', run],
    { encoding: 'utf8' },
  )
  expect(stderr).toContain('The tasks that todo gives now are not those')
  expect(stderr).toContain('todo.ts changed')
})
