import { expect, test } from 'vitest'
import { toTrainingSequences } from '../episode/training-sequences.ts'
import type { ModelBackend } from '../model-backend.ts'
import { createChatActor } from './chat-actor.ts'
import { createTemplateFormat } from './chat-format/template-format.ts'
import { createExpertActor } from './expert-actor.ts'
import { addTwice, counterEnvironment, limits, specsOf, taskOf } from './testing/counter-environment.ts'
import { tinyTemplate, tinyTokenizer } from './testing/tiny-checkpoint.ts'
import { runEpisodes } from './turn-loop.ts'

const tokenizer = tinyTokenizer('qwen')
const format = createTemplateFormat({ template: tinyTemplate('qwen'), tokenizer })

/** Emits the given texts in turn for any prompt, and records the prompts. */
function saying(...texts: string[]): Pick<ModelBackend, 'sample'> & { prompts: Int32Array[] } {
  const prompts: Int32Array[] = []
  return {
    prompts,
    sample: (requests) =>
      Promise.resolve(
        requests.map(({ prompt }) => {
          prompts.push(prompt)
          const tokens = tokenizer.encode(texts[prompts.length - 1], { addedTokens: true })
          return {
            tokens,
            logprobs: new Float32Array(tokens.length).fill(-1),
            finish: 'stop',
            weightVersion: 2,
          }
        }),
      ),
  }
}
const call = (n: number, thought = '') =>
  `${thought}<tool_call>\n{"name": "add",   "arguments": {"n": ${n}}}\n</tool_call><|im_end|>`
const advantage = () => ({ advantage: 1, weights: { rl: 1 } })

async function play(backend: Pick<ModelBackend, 'sample'>, window = 4096) {
  const actor = createChatActor({
    backend,
    format,
    sampling: { temperature: 1 },
    seed: 0,
    maxTokensPerTurn: 64,
    window,
  })
  const [episode] = await runEpisodes(specsOf([taskOf('a', addTwice)]), actor, counterEnvironment(), limits)
  return episode
}

test('a conversation with tools is one row of sampled ids and template tokens', async () => {
  const backend = saying(call(1, '<think>\nhm\n</think>\n\n'), call(2), '3<|im_end|>')
  const episode = await play(backend)
  expect(episode).toMatchObject({ status: 'ok', success: true })
  const rows = toTrainingSequences(episode, advantage)
  expect(rows.length).toBe(1)
  const said = tokenizer.encode('3<|im_end|>', { addedTokens: true })
  expect([...rows[0].tokens]).toEqual([...backend.prompts[2], ...said])
  const trained = rows[0].tokens.filter((_, t) => rows[0].weights.rl[t] === 1)
  expect(tokenizer.decode(trained)).toBe(`${call(1, '<think>\nhm\n</think>\n\n')}${call(2)}3<|im_end|>`)
  expect(tokenizer.decode(backend.prompts[1])).toMatch(
    /"n": 1}}\n<\/tool_call><\|im_end\|>\n<\|im_start\|>user\n<tool_response>\n1\n/,
  )
})

test('where the template rewrites the past, the act has a row of its own', async () => {
  const thought = '<think>\nhm\n</think>\n\n'
  // The error is a user message, after which the template drops earlier reasoning.
  const backend = saying(
    `${thought}<tool_call>\n{"name": "add"\n</tool_call><|im_end|>`,
    call(1),
    call(2),
    '3<|im_end|>',
  )
  const episode = await play(backend)
  expect(episode).toMatchObject({ status: 'ok', success: true })
  expect(tokenizer.decode(backend.prompts[1])).not.toContain('hm')
  const rows = toTrainingSequences(episode, advantage)
  expect(rows.map(({ tokens }) => tokenizer.decode(tokens).includes('hm'))).toEqual([false, true])
  const end = tokenizer.encode('3<|im_end|>', { addedTokens: true })
  expect([...rows[0].tokens]).toEqual([...backend.prompts[3], ...end])
  expect(episode.samples.map(({ path }) => path.length)).toEqual([2, 0, 2, 4])
})

test('a prompt that fills the window ends the episode, not the run', async () => {
  const episode = await play(saying(), 20)
  expect(episode).toMatchObject({ status: 'failed', ending: 'token-limit' })
  expect(toTrainingSequences(episode, advantage)).toEqual([])
})

test('demonstrations have the tokens by which the model would say them', async () => {
  const tasks = [taskOf('a', addTwice)]
  const actor = createExpertActor({ tasks: new Map([['e-a', tasks[0]]]), format })
  const [episode] = await runEpisodes(specsOf(tasks), actor, counterEnvironment(), limits)
  const [row, ...others] = toTrainingSequences(episode, () => ({ advantage: 0, weights: { ce: 1 } }))
  expect(others).toEqual([])
  const said = tokenizer.decode(row.tokens.filter((_, t) => row.weights.ce[t] === 1))
  expect(
    said.match(/<tool_call>\n{"name": "add", "arguments": {"n": \d}}\n<\/tool_call><\|im_end\|>/g)?.length,
  ).toBe(2)
  expect(said.endsWith('3<|im_end|>')).toBe(true)
})
