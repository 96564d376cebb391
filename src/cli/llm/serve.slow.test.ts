import { expect, test } from 'vitest'
import { runEpisodes } from '../../llm/agent/turn-loop.ts'
import type { Episode } from '../../llm/episode/types.ts'
import { heldOutTasks } from '../../llm/rollout/collect.ts'
import {
  createReasoningEnvironment,
  createReasoningTasks,
} from '../../llm/environment/reasoning/environment.ts'
import { baseModelFolder } from '../../llm/checkpoint/checkpoint.ts'
import { openModel } from './model-option.ts'
import { runCli } from '../run-cli.ts'

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
  const specs = tasks.map((task) => ({ id: task.id, group: task.id, task }))
  const limits = { turns: 1, deadlineSeconds: 600, toolDeadlineSeconds: 120 }
  const play = async (given: string): Promise<Episode[]> => {
    const model = await openModel(given, options, terminal)
    const episodes = await runEpisodes(specs, model.actor, createReasoningEnvironment(), limits)
    await model.dispose()
    return episodes
  }
  for (const { nodes, samples } of await play(baseModelFolder)) {
    const [{ path, output, mask }] = samples
    const before = path.filter((at) => at !== output).flatMap((at) => [...nodes[at].tokens])
    const [...tokens] = nodes[output].tokens
    const sampled = mask.indexOf(1)
    const response = await fetch(`${out.trim()}/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        prompt: [...before, ...tokens.slice(0, sampled)],
        max_tokens: tokens.length - sampled,
        temperature: 0,
        return_token_ids: true,
      }),
    })
    expect(await response.json()).toMatchObject({ choices: [{ token_ids: tokens.slice(sampled) }] })
  }
  // The model calls what it was trained on; no tool is offered here, so from the endpoint there is none.
  const answers = (await play(out)).map(({ nodes }) => nodes.find(({ role }) => role === 'assistant')!)
  expect(answers.flatMap(({ calls = [] }) => calls)).toEqual([])
  expect(new Set(answers.map(({ text }) => text)).size).toBeGreaterThan(5)
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
