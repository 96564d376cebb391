import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { trainingMethods } from '../../llm/training/method-list.ts'
import { agoge } from '../testing/agoge.ts'
import { offlineMethods } from './offline-methods.ts'

let root: string
const at = (name: string): string => join(root, name)
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'agoge-methods-'))
  // What all offline methods learn from, and a teacher; itself trained by one of the online methods.
  const words = ['train', '--quick', '--steps', '2', '--tasks', '15', '--algorithm', 'online-dpo']
  const { code, out, err } = await agoge(...words, '--out', at('first'))
  expect(code, err).toBe(0)
  expect(out).toContain('after the warm start')
}, 300_000)
afterAll(() => rmSync(root, { recursive: true, force: true }))

const config = (run: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(at(run), 'config.json'), 'utf8')) as Record<string, unknown>

test('a teacher is named by its run, and recorded', async () => {
  const words = ['train', '--quick', '--steps', '1', '--tasks', '15', '--algorithm', 'distillation']
  const { code, out, err } = await agoge(...words, '--teacher', at('first'), '--out', at('student'))
  expect(code, err).toBe(0)
  expect(out).toContain('distillation: Success on 15 held-out tasks')
  expect(config('student')).toMatchObject({
    algorithm: 'distillation',
    teacher: join(at('first'), 'checkpoints', 'final'),
  })
}, 300_000)

test.each(Object.keys(offlineMethods))(
  'train-offline --method %s reports pairs or steps before and after, and is finished when resumed',
  async (method) => {
    const words = ['train-offline', at('first'), '--method', method, '--steps', '2', '--tasks', '0']
    const { code, out, err } = await agoge(...words, '--out', at(method))
    expect(code, err).toBe(0)
    expect(out).toMatch(/\d+ held-out .*learnt from\) +before +after \d steps/)
    expect(out).toMatch(/in the right order +\d+% +\d+%/)
    expect(existsSync(join(at(method), 'report.html'))).toBe(true)
    const again = await agoge(...words, '--out', at(method), '--resume')
    expect(again).toMatchObject({ code: 0, out })
    const other = await agoge(...words.toSpliced(5, 1, '3'), '--out', at(method), '--resume')
    expect(other).toMatchObject({ code: 1, err: expect.stringMatching(/other settings/) as string })
  },
  300_000,
)

test('success on held-out tasks is compared, paired by task', async () => {
  const words = ['train-offline', at('first'), '--steps', '1', '--tasks', '15', '--out', at('compared')]
  const { code, out, err } = await agoge(...words)
  expect(code, err).toBe(0)
  expect(out).toContain('after less before, paired over 15 tasks')
}, 300_000)

test('help names every method; what is missing is said', async () => {
  const train = await agoge('train', '--help')
  for (const name of Object.keys(trainingMethods)) expect(train.out).toContain(`  ${name}`)
  const offline = await agoge('train-offline', '--help')
  for (const name of Object.keys(offlineMethods)) expect(offline.out).toContain(`  ${name}`)
  const refused = async (...words: string[]) => (await agoge(...words)).err
  expect(await refused('train', '--algorithm', 'distillation')).toMatch(/needs a teacher/)
  expect(await refused('train', '--teacher', at('first'))).toMatch(/is of --algorithm distillation/)
  expect(await refused('train', '--algorithm', 'ppo', '--lora', '4')).toMatch(
    /trains a critic from all weights/,
  )
  expect(await refused('train', '--algorithm', 'arcer')).toMatch(/Did you mean "archer"/)
  expect(await refused('train-offline', at('nowhere'), '--out', at('x'))).toMatch(/no episodes to learn from/)
  expect(await refused('train-offline', at('first'), '--method', 'dop', '--out', at('x'))).toMatch(/Allowed/)
  expect(await refused('train-offline', at('first'), '--learning-rate', '0', '--out', at('x'))).toMatch(
    /above 0/,
  )
})
