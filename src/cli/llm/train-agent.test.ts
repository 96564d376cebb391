import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { writeTinyCheckpoint } from '../../llm/agent/testing/tiny-checkpoint.ts'
import { agoge } from '../testing/agoge.ts'

let folder: string
const at = (name: string): string => join(folder, name)

const config = `
const ask = (text) => [{ role: 'user', content: [{ type: 'text', text }] }]
export default {
  async agent(task, { model, signal }) {
    const { content } = await model.doGenerate({ prompt: ask(task.prompt), maxOutputTokens: 3, abortSignal: signal })
    return content.map(({ text }) => text).join('')
  },
  tasks: Array.from({ length: 30 }, (_, at) => ({ id: 't' + at, prompt: 'Say a letter' })),
  score: ({ output }) => output.length % 2,
  models: [{ kind: 'run', folder: 'model' }],
}
`

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'agoge-train-agent-'))
  await writeTinyCheckpoint(folder, { window: 200 })
  writeFileSync(at('agoge.config.mjs'), config)
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const few = ['--steps', '2', '--groups', '2', '--group-size', '6', '--learning-rate', '0.01']
const training = (...words: string[]) => agoge('train', '-c', at('agoge.config.mjs'), ...few, ...words)

test('agoge train with a config prints the models before and after, and says how the config uses the run', async () => {
  const { code, out, err } = await training('--out', at('first'))
  expect([code, err]).toEqual([0, expect.stringMatching(/tasks: \d+ for training.* by a hash of their ids/)])
  expect(out).toMatch(/^\d+ tasks x 1 +before +trained$/m)
  expect(out).toMatch(/^success +\d+% \(\d+–\d+\) +\d+% \(\d+–\d+\)$/m)
  expect(out).toMatch(/trained less before, paired over \d+ tasks/)
  expect(out).toMatch(/^(?:no gain is shown|the trained model is (?:better|worse))/m)
  expect(out).toContain(`models: [run('first')]`)
  expect(err).toMatch(/at most \d+ runs of the agent: 24 in 2 steps of training/)
})

test('options of other environments are refused, and an unknown model is said with where it was looked for', async () => {
  const foreign = await training('--quick')
  expect([foreign.code, foreign.err]).toEqual([1, expect.stringContaining('--quick means nothing')])
  const { code, err } = await training('--model', 'nowhere', '--out', at('none'))
  expect([code, err]).toEqual([1, expect.stringContaining(join('.agoge', 'runs', 'nowhere'))])
  const both = await agoge('train', 'filesystem', '-c', at('agoge.config.mjs'))
  expect([both.code, both.err]).toEqual([1, expect.stringContaining('one of them')])
})
