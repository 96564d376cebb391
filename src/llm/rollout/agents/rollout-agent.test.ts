import { generateText, stepCountIs, streamText, tool } from 'ai'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { createTemplateFormat } from '../../agent/chat-format/template-format.ts'
import { saying } from '../../agent/testing/saying.ts'
import { tinyTemplate, tinyTokenizer } from '../../agent/testing/tiny-checkpoint.ts'
import { grpo } from '../../algorithm/policy-optimisation/presets.ts'
import { decodeEpisode, encodeEpisode } from '../../episode/codec.ts'
import { toTrainingSequences, turnRewards } from '../../episode/training-sequences.ts'
import type { Episode } from '../../episode/types.ts'
import { createLocalBackend } from '../../backend/local-backend.ts'
import { tinyConfig } from '../../testing/tiny-model.ts'
import { score } from '../../reward/reward.ts'
import { taskReward } from '../../reward/rewards.ts'
import { demonstrateAgent, rolloutAgent } from './rollout-agent.ts'
import type { AgentContext, AgentProgram, AgentTask } from './rollout-agent.ts'

const tokenizer = tinyTokenizer('qwen')
const format = createTemplateFormat({ template: tinyTemplate('qwen'), tokenizer })
const common = { tokenizer, format, window: 3000, name: 'test', seed: 1 }
const task = (id: string): AgentTask => ({ id })
const advantage = () => ({ advantage: 1, weights: { rl: 1 } })
const call = (n: number) =>
  `<tool_call>\n{"name": "price",  "arguments": {"of": "item ${n}"}}\n</tool_call><|im_end|>`

function tools(log: string[] = []) {
  return {
    price: tool({
      inputSchema: z.object({ of: z.string() }),
      execute: ({ of }) => {
        log.push(of)
        return { price: of.length }
      },
    }),
  }
}
const shop = (
  run: (task: AgentTask, context: AgentContext) => Promise<string>,
): AgentProgram<AgentTask, string> => ({
  name: 'shop',
  run,
  judge: (_, result) => ({
    value: Number(result === 'It is 6.'),
    parts: { answer: result === 'It is 6.' ? 1 : 0 },
  }),
})
const buyer = shop(async ({ id }, { model }) => {
  const { text } = await generateText({
    model,
    tools: tools(),
    prompt: `Price of ${id}?`,
    stopWhen: stepCountIs(4),
  })
  return text
})
const answers = (prompt: string): string => {
  const results = prompt.split('<tool_response>').length - 1
  return results < 2 ? call(results) : 'It is 6.<|im_end|>'
}
async function only(
  options: Partial<Parameters<typeof rolloutAgent<AgentTask, string>>[0]>,
): Promise<Episode> {
  const backend = saying(tokenizer, answers)
  const [[episode]] = await rolloutAgent({
    ...common,
    backend,
    program: buyer,
    tasks: [task('tea')],
    ...options,
  })
  return episode
}

test('an agent of generateText with tools becomes an episode of one row, with the sampled ids verbatim', async () => {
  const episode = await only({})
  expect(episode).toMatchObject({
    status: 'ok',
    success: true,
    environment: 'shop',
    task: 'tea',
    usage: { calls: 2, invalidCalls: 0 },
  })
  expect(episode.nodes.map(({ role, parent }) => [role, parent])).toEqual([
    ['user', null],
    ['assistant', 0],
    ['tool', 1],
    ['assistant', 2],
    ['tool', 3],
    ['assistant', 4],
  ])
  const [row, ...others] = toTrainingSequences(episode, advantage)
  expect(others).toEqual([])
  expect(tokenizer.decode(row.tokens.filter((_, t) => row.weights.rl[t] === 1))).toBe(
    `${call(0)}${call(1)}It is 6.<|im_end|>`,
  )
  expect(tokenizer.decode(row.tokens)).toContain(
    '}}\n</tool_call><|im_end|>\n<|im_start|>user\n<tool_response>\n{"price":6}',
  )
  expect((await score(taskReward({}), episode)).value).toBe(1)
  expect(decodeEpisode(encodeEpisode(episode))).toEqual(episode)
})

test('streamText is recorded the same', async () => {
  const program = shop(async ({ id }, { model }) => {
    const { text } = streamText({
      model,
      tools: tools(),
      prompt: `Price of ${id}?`,
      stopWhen: stepCountIs(4),
    })
    return await text
  })
  const [streamed, generated] = [await only({ program }), await only({})]
  expect(streamed.nodes).toEqual(generated.nodes)
  expect(streamed.samples).toEqual(generated.samples)
})

test('branches of a conversation and sub-agents are a tree; shared prompts are not trained twice', async () => {
  const program = shop(async ({ id }, { model }) => {
    const messages = [{ role: 'user' as const, content: id }]
    const first = await generateText({ model, messages })
    const history = [...messages, ...first.response.messages]
    await Promise.all([
      generateText({ model, messages: [...history, { role: 'user', content: 'Left?' }] }),
      generateText({ model, messages: [...history, { role: 'user', content: 'Right?' }] }),
      generateText({ model, system: 'Be another.', prompt: 'Sub?' }),
    ])
    return 'It is 6.'
  })
  const backend = saying(
    tokenizer,
    (prompt) => `${/([A-Z]\w+)\?/.exec(prompt.slice(-60))?.[1] ?? 'root'}<|im_end|>`,
  )
  const episode = await only({ program, backend })
  expect(backend.batches).toEqual([1, 3])
  const rows = toTrainingSequences(episode, advantage).map((row) =>
    tokenizer.decode(row.tokens.filter((_, t) => row.weights.rl[t] === 1)),
  )
  expect(rows.sort()).toEqual(['Right<|im_end|>', 'Sub<|im_end|>', 'root<|im_end|>Left<|im_end|>'].sort())
  expect(episode.nodes.filter(({ parent }) => parent === null).length).toBe(2)
})

test('a conversation that the program rewrites begins a row of its own', async () => {
  const program = shop(async ({ id }, { model }) => {
    const messages = [{ role: 'user' as const, content: id }]
    await generateText({ model, messages })
    await generateText({
      model,
      messages: [
        ...messages,
        { role: 'assistant', content: 'Something else.' },
        { role: 'user', content: 'And?' },
      ],
    })
    return ''
  })
  const episode = await only({ program, backend: saying(tokenizer, () => 'x<|im_end|>') })
  expect(toTrainingSequences(episode, advantage).length).toBe(2)
})

test('all calls in flight are one batch, whatever the speed of tools; the same seed gives the same episodes', async () => {
  const config = { ...tinyConfig, vocab_size: tokenizer.vocabularySize, max_position_embeddings: 400 }
  const run = async (slow: boolean): Promise<{ batches: number[]; episodes: Episode[] }> => {
    const backend = createLocalBackend({ config, seed: 1, tokenizer, threads: 1 })
    const batches: number[] = []
    const sample: typeof backend.sample = (requests, options) => {
      batches.push(requests.length)
      return backend.sample(requests, options)
    }
    const program = shop(async ({ id }, { model, episode }) => {
      let text = ''
      for (let turn = 0; turn < (id === 'b' ? 2 : 3); turn++) {
        if (slow && episode.endsWith('0')) await new Promise((resolve) => setTimeout(resolve, 15))
        // The program's own settings are ignored: the trainer decides how to explore.
        text += (await generateText({ model, prompt: `${id}${turn}`, maxOutputTokens: 5, temperature: 0 }))
          .text
      }
      return text
    })
    const groups = await rolloutAgent({
      ...common,
      window: 400,
      backend: { sample },
      program,
      tasks: [task('a'), task('b')],
      groupSize: 2,
    })
    await backend.dispose()
    return {
      batches,
      episodes: groups.flat().map((episode) => ({ ...episode, timing: { seconds: 0, toolSeconds: 0 } })),
    }
  }
  const [quick, slow] = [await run(false), await run(true)]
  expect(quick.batches).toEqual([4, 4, 2])
  expect(slow).toEqual(quick)
  const texts = quick.episodes.map(({ nodes }) => nodes.map(({ text }) => text).join('|'))
  expect(new Set(texts).size).toBe(4)
})

test('a program that waits for another continues after the patience has passed', async () => {
  let first: (() => void) | undefined
  const gate = new Promise<void>((resolve) => (first = resolve))
  const program = shop(async ({ id }, { model }) => {
    if (id === 'b') await gate
    const { text } = await generateText({ model, prompt: id })
    first?.()
    return text
  })
  const backend = saying(tokenizer, () => 'It is 6.<|im_end|>')
  const groups = await rolloutAgent({
    ...common,
    backend,
    program,
    tasks: [task('a'), task('b')],
    patienceSeconds: 0.05,
  })
  expect(groups.flat().map(({ success }) => success)).toEqual([true, true])
  expect(backend.batches).toEqual([1, 1])
})

test('faults of the program mask, a full window is the model at fault, mistakes end the rollout', async () => {
  const broken = shop(async (_, { model }) => {
    await generateText({ model, prompt: 'Hi' })
    throw new Error('the shop is closed')
  })
  expect(await only({ program: broken })).toMatchObject({
    status: 'masked',
    ending: 'infrastructure',
    error: 'the shop is closed',
  })
  expect(await only({ window: 100 })).toMatchObject({
    status: 'failed',
    ending: 'token-limit',
    success: false,
  })
  const turnless = shop(async (_, { model }) => {
    await generateText({ model, prompt: 'Hi' })
    throw Object.assign(new Error('Max turns (4) exceeded'), { name: 'MaxTurnsExceededError' })
  })
  expect(await only({ program: turnless })).toMatchObject({
    status: 'failed',
    ending: 'turn-limit',
    success: false,
  })
  // The first of two concurrent calls does not fit. The program may throw its own error for that.
  const twins = (wrap: boolean) =>
    shop(async (_, { model }) => {
      const ask = (prompt: string) => generateText({ model, prompt, maxRetries: 0 })
      const both = Promise.all([ask('x'.repeat(400)), ask('Hi')])
      const [{ text }] = await both.catch((cause: unknown) => {
        throw wrap ? new Error('too much', { cause }) : cause
      })
      return text
    })
  for (const wrap of [false, true])
    expect(await only({ program: twins(wrap), window: 300 })).toMatchObject({
      status: 'failed',
      ending: 'token-limit',
    })
  // An error that the program has handled is not the cause of a later one.
  const recovered = shop(async (_, { model }) => {
    await generateText({ model, prompt: 'x'.repeat(400), maxRetries: 0 }).catch(() => {})
    throw new Error('the shop is closed')
  })
  expect(await only({ program: recovered, window: 300 })).toMatchObject({ status: 'masked' })
  const endless = shop(() => new Promise(() => {}))
  expect(await only({ program: endless, deadlineSeconds: 0.05 })).toMatchObject({
    status: 'masked',
    ending: 'deadline',
  })
  const unsure = { ...buyer, judge: () => null }
  expect(await only({ program: unsure })).toMatchObject({ status: 'masked', success: null })
  const controller = new AbortController()
  const aborted = only({ program: endless, signal: controller.signal })
  controller.abort(new Error('enough'))
  await expect(aborted).rejects.toThrow('enough')
})

test('a teacher’s episodes and groups of episodes can be trained on', async () => {
  const config = { ...tinyConfig, vocab_size: tokenizer.vocabularySize, max_position_embeddings: 1500 }
  const backend = createLocalBackend({ config, seed: 1, tokenizer, threads: 1 })
  const teacher = (_: AgentTask, messages: readonly unknown[]) =>
    messages.length === 1 ? { call: { name: 'price', arguments: { of: 'item 0' } } } : { text: 'It is 6.' }
  const shown = await demonstrateAgent({
    ...common,
    name: 'shown',
    program: buyer,
    tasks: [task('tea')],
    teacher,
  })
  expect(shown[0]).toMatchObject({ status: 'ok', success: true, usage: { calls: 1 } })
  const [row] = toTrainingSequences(shown[0], () => ({ advantage: 0, weights: { ce: 1 } }))
  expect(tokenizer.decode(row.tokens.filter((_, t) => row.weights.ce[t] === 1))).toContain(
    '"arguments": {"of": "item 0"}',
  )
  const groups = await rolloutAgent({
    ...common,
    window: 1500,
    backend,
    program: buyer,
    tasks: [task('tea')],
    groupSize: 4,
    maxTokens: 6,
  })
  const rewards = [1, 0, 0, 1]
  const none = () => Promise.resolve([])
  const context = { reference: none, trainer: none, demonstrations: [] }
  const update = await grpo({ kl: 0 })([{ episodes: groups[0], rewards }], context)
  const { meanRatio } = await backend.forwardBackward(
    update.sequences,
    update.loss as Parameters<typeof backend.forwardBackward>[1],
  )
  expect(meanRatio).toBeCloseTo(1, 3)
  await backend.dispose()
})

test('calls of tools that are not there, or with arguments that do not fit, stay in the conversation', async () => {
  const wrong = (name: string, args: string) =>
    `<tool_call>\n{"name": "${name}", "arguments": ${args}}\n</tool_call><|im_end|>`
  const turns = [
    wrong('cost', '{"of": "tea"}'),
    wrong('price', '{"off": 1}'),
    '<tool_call>\n{"name"\n</tool_call><|im_end|>',
  ]
  const backend = saying(tokenizer, (prompt) => turns[prompt.split('<tool_response>').length - 1])
  const episode = await only({ backend })
  expect(episode.nodes.map(({ role, isError }) => [role, isError === true])).toEqual([
    ['user', false],
    ['assistant', false],
    ['tool', true],
    ['assistant', false],
    ['tool', true],
    ['assistant', false],
  ])
  expect(toTrainingSequences(episode, advantage).length).toBe(1)
  // The last call is invalid: the program receives it as text.
  expect(episode).toMatchObject({ status: 'ok', success: false, usage: { calls: 3, invalidCalls: 1 } })
})

test('a program can reward the last output of the model', async () => {
  const program = shop(async ({ id }, { model, reward }) => {
    const { text } = await generateText({ model, prompt: `Price of ${id}?` })
    reward(0.5)
    await generateText({ model, prompt: `And of ${text}?` })
    reward(-1)
    reward(0.25)
    return 'It is 6.'
  })
  const episode = await only({ program })
  expect(turnRewards(episode)).toEqual([0.5, -0.75])
  expect((await score(taskReward({}), episode)).value).toBe(1)
  const early = shop((_, { reward }) => {
    reward(1)
    return Promise.resolve('It is 6.')
  })
  await expect(only({ program: early })).rejects.toMatchObject({ code: 'bad-reward' })
})
