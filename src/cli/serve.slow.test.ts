import { expect, test } from 'vitest'
import { runEpisodes } from '../agent/index.ts'
import { heldOutTasks } from '../rollout/index.ts'
import { createReasoningTasks, createReasoningWorld } from '../worlds/reasoning/index.ts'
import { baseModelFolder } from '../language/index.ts'
import { openModel } from './model-option.ts'
import { runCli } from './run-cli.ts'

test('agoge serve: the endpoint says what the checkpoint says; Ctrl-C ends it', async () => {
  const interrupt = new AbortController()
  let out = ''
  let err = ''
  const serving = runCli(['serve', baseModelFolder, '--port', '0', '--name', 'served'], {
    out: (text) => (out += text),
    err: (text) => (err += `${text}\n`),
    progress: { write: () => {} },
    signal: interrupt.signal,
    debug: false,
  })
  await expect.poll(() => out, { timeout: 120_000 }).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/v1$/)
  const console = { out: () => {}, err: () => {}, progress: { write: () => {} }, debug: false }
  const terminal = { ...console, signal: new AbortController().signal }
  const options = { seed: 0, temperature: 0, maxTokensPerTurn: 1024 }
  const tasks = heldOutTasks(createReasoningTasks(), 'test', 12)
  const said: string[][] = []
  for (const given of [baseModelFolder, out]) {
    const model = await openModel(given, options, terminal)
    const specs = tasks.map((task) => ({ id: task.id, group: task.id, task }))
    const limits = { turns: 1, deadlineSeconds: 600, toolDeadlineSeconds: 20 }
    const episodes = await runEpisodes(specs, model.actor, createReasoningWorld(), limits)
    await model.dispose()
    said.push(
      episodes.map(({ nodes }) => {
        const { text, calls } = nodes.find(({ role }) => role === 'assistant')!
        return [
          text,
          ...(calls ?? []).map(({ name, arguments: given }) => JSON.stringify([name, given])),
        ].join()
      }),
    )
  }
  // The actor of endpoints repairs a call that is no JSON; from the checkpoint it is an attempt that failed, without a text.
  const whole = tasks.flatMap((_, i) => (said[0][i] === '' ? [] : [i]))
  expect(whole.map((i) => said[1][i])).toEqual(whole.map((i) => said[0][i]))
  expect(new Set(whole.map((i) => said[0][i])).size).toBeGreaterThan(5)
  interrupt.abort()
  expect(await serving).toBe(0)
  expect(err).toContain('POST /v1/chat/completions 200')
  await expect(fetch(`${out}/models`)).rejects.toThrow()
})

test('agoge serve: what cannot be served is said', async () => {
  const said: string[] = []
  const terminal = {
    out: () => {},
    err: (text: string) => said.push(text),
    progress: { write: () => {} },
    signal: new AbortController().signal,
    debug: false,
  }
  expect(await runCli(['serve', '/nowhere'], terminal)).toBe(1)
  expect(await runCli(['serve', baseModelFolder, '--host', '0.0.0.0'], terminal)).toBe(1)
  expect(said.join('\n')).toMatch(/There is no model[\s\S]*without a key/)
})
