import { expect, test } from 'vitest'
import { openEnvironment } from './open-environment.ts'
import { runCli } from '../run-cli.ts'

// The first call of a command loads its modules, which takes long on a busy machine; nothing here is about time.

async function agoge(...words: string[]): Promise<{ code: number; text: string }> {
  let text = ''
  const write = (more: string): void => {
    text += more
  }
  const code = await runCli(words, {
    out: write,
    err: write,
    progress: { write },
    signal: new AbortController().signal,
    debug: false,
  })
  return { code, text }
}

test.each<[string[], RegExp]>([
  [['eval', 'reasoning', '--task', 'countdwn'], /no kind of question "countdwn"[\s\S]*countdown/],
  [['eval', 'reasoning', '--difficulty', '4'], /no level 4[\s\S]*1 to 3/],
  [['eval', 'reasoning', '--difficulty', 'hard'], /--difficulty[\s\S]*whole number of at least 1/],
  [['eval', 'filesystem', '--task', 'countdown'], /--task means nothing for filesystem/],
  [['train', 'cartpole', '--task', 'countdown'], /--task means nothing for cartpole/],
  [['train', 'reasoning', '--seeds', '3'], /--seeds means nothing for reasoning/],
  [['play', 'reasoning'], /reasoning has tasks in words/],
])('%j is refused with what is wrong', async (words, message) => {
  const { code, text } = await agoge(...words)
  expect(code).not.toBe(0)
  expect(text).toMatch(message)
})

/** The environment as the commands open it, without a terminal. */
const opened = () =>
  openEnvironment(
    { environment: 'reasoning', task: ['sorting', 'clock'], difficulty: [1] },
    { seed: 0 },
    {
      out: () => {},
      err: () => {},
      progress: { write: () => {} },
      signal: new AbortController().signal,
      debug: false,
    },
  )

test('the plan has demonstrations of every kind and turns for the longest reply of the oracle', async () => {
  const { plan, tasks, heldOut } = await opened()
  expect(tasks.kinds).toEqual(['sorting', 'clock'])
  expect(Object.keys(plan.demonstrations)).toEqual(['sorting', 'clock'])
  for (const task of heldOut('test', 20)) {
    const reply = tasks.task({ split: 'test', seed: task.seed, kind: task.kind }).plan([])
    expect('answer' in reply && reply.answer.length).toBeLessThan(plan.maxTokensPerTurn)
  }
  expect(new Set(heldOut('test', 20).map(({ id }) => id)).size).toBe(20)
})
