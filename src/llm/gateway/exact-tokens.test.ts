import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { expect, onTestFinished, test } from 'vitest'
import { toTrainingSequences } from '../episode/training-sequences.ts'
import type { Episode } from '../episode/types.ts'
import type { ModelBackend, SampleRequest } from '../model-backend.ts'
import type { Tokenizer } from '../tokenizer/tokenizer.ts'
import { openGateway } from './gateway.ts'
import { localGatewayModel } from './local-model.ts'
import { tenFormats, type TestFormat } from './testing/templates.ts'

interface Sampled {
  prompt: Int32Array
  output: Int32Array
}

/** Writes each character as a token of its own where it can: a second tokenisation of the text would give other tokens. */
function spelled(text: string, tokenizer: Tokenizer, end: string): Int32Array {
  const ids = Array.from(text).flatMap((character) => [...tokenizer.encode(character)])
  return Int32Array.from([...ids, ...tokenizer.encode(end, { addedTokens: true })])
}

/** A model that asks for two prices, one after the other, and thinks where its template has a place for that. */
function backendOf({ tokenizer, call, end, thinks }: TestFormat): {
  backend: Pick<ModelBackend, 'sample'>
  sampled: Sampled[]
} {
  const sampled: Sampled[] = []
  return {
    sampled,
    backend: {
      async sample(requests: readonly SampleRequest[], { onToken }) {
        await Promise.resolve()
        return requests.map(({ prompt }, row) => {
          const turn = sampled.length
          const thought = thinks ? `<think>\nTurn ${turn}, then.\n</think>\n\n` : ''
          const said = turn % 3 === 2 ? `It costs ${turn} cents.` : call('price', { of: `thing ${turn}` })
          const output = spelled(`${thought}${said}`, tokenizer, end)
          for (const token of output) onToken?.(row, token, -0.25)
          sampled.push({ prompt, output })
          return {
            tokens: output,
            logprobs: Float32Array.from(output, (_, i) => -0.01 * (i + 1)),
            finish: 'stop' as const,
            weightVersion: 7,
          }
        })
      },
    },
  }
}

const parameters = { type: 'object' as const, properties: { of: { type: 'string' } } }

/** Three questions, each with two calls, in one conversation. */
async function askByChat(url: string, stream: boolean): Promise<void> {
  const client = new OpenAI({ baseURL: `${url}/s/one/v1`, apiKey: 'any', maxRetries: 0 })
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'system', content: 'Shop.' }]
  for (const question of ['What is tea?', 'And milk?', 'And bread?']) {
    messages.push({ role: 'user', content: question })
    for (let turn = 0; turn < 3; turn++) {
      const asked = {
        model: 'tiny',
        messages,
        tools: [{ type: 'function' as const, function: { name: 'price', parameters } }],
      }
      const { choices } = stream
        ? await client.chat.completions.stream(asked).finalChatCompletion()
        : await client.chat.completions.create(asked)
      const { content, tool_calls: calls } = choices[0].message
      // As clients do that know nothing of reasoning.
      messages.push({ role: 'assistant', content, ...(calls?.length && { tool_calls: calls }) })
      for (const { id } of calls ?? []) messages.push({ role: 'tool', tool_call_id: id, content: '3 cents' })
    }
  }
}

async function askByMessages(url: string): Promise<void> {
  const client = new Anthropic({ baseURL: `${url}/s/one`, apiKey: 'any', maxRetries: 0 })
  const messages: Anthropic.MessageParam[] = []
  for (const question of ['What is tea?', 'And milk?', 'And bread?']) {
    messages.push({ role: 'user', content: question })
    for (let turn = 0; turn < 3; turn++) {
      const { content } = await client.messages.create({
        model: 'tiny',
        max_tokens: 500,
        system: 'Shop.',
        messages,
        tools: [{ name: 'price', input_schema: parameters }],
      })
      messages.push({ role: 'assistant', content })
      const results = content.flatMap((block): Anthropic.ToolResultBlockParam[] =>
        block.type === 'tool_use' ? [{ type: 'tool_result', tool_use_id: block.id, content: '3 cents' }] : [],
      )
      if (results.length > 0) messages.push({ role: 'user', content: results })
    }
  }
}

/** Where the tokens of an episode differ from those that the model was shown and drew. */
function mismatches({ nodes, samples }: Episode, sampled: readonly Sampled[]): number {
  return samples.filter(({ path, output, mask, logprobs }, i) => {
    const recorded = [...path, output].flatMap((id) => [...nodes[id].tokens])
    const drawn = sampled[i]
    const all = [...drawn.prompt, ...drawn.output]
    const chosen = [...nodes[output].tokens].filter((_, t) => mask[t] === 1)
    const places = [...mask.keys()].filter((t) => mask[t] === 1)
    const isSame = JSON.stringify(recorded) === JSON.stringify(all)
    const isDrawn = JSON.stringify(chosen) === JSON.stringify([...drawn.output])
    return !isSame || !isDrawn || places.some((t, at) => Math.abs(logprobs[t] + 0.01 * (at + 1)) > 1e-6)
  }).length
}

const startsWith = (whole: Int32Array, start: readonly number[]): boolean =>
  start.every((token, i) => whole[i] === token)

const clients = {
  chat: (url: string) => askByChat(url, false),
  'chat, streamed': (url: string) => askByChat(url, true),
  messages: askByMessages,
}

test.each(
  Object.entries(tenFormats()).flatMap(([name, format]) =>
    Object.entries(clients).map(([client, ask]) => ({ name, format, client, ask })),
  ),
)('$name, $client: the tokens of an episode are those that were drawn', async ({ format, ask }) => {
  const { backend, sampled } = backendOf(format)
  const episodes: Episode[] = []
  const gateway = await openGateway({
    models: [localGatewayModel({ name: 'tiny', backend, ...format, window: 20_000 })],
    onEpisode: (episode) => void episodes.push(episode),
  })
  onTestFinished(() => gateway.close(0))
  await ask(gateway.url)
  await gateway.close(0)
  const [episode] = episodes
  expect([episodes.length, sampled.length, episode.samples.length, episode.usage.calls]).toEqual([1, 9, 9, 6])
  expect(mismatches(episode, sampled)).toBe(0)
  expect(episode).toMatchObject({ status: 'ok', id: 'one/0' })
  // One conversation: each answer stands below the one before.
  expect(episode.nodes.filter(({ parent }) => parent === null)).toHaveLength(1)
  // Inside a question no template forgets: the next prompt begins with the tokens that were drawn.
  for (let i = 0; i < 9; i++) {
    const { prompt, output } = sampled[i]
    if (i % 3 < 2) expect(startsWith(sampled[i + 1].prompt, [...prompt, ...output])).toBe(true)
  }
  // Each drawn token is trained exactly once.
  const rows = toTrainingSequences(episode, () => ({ advantage: 1, weights: { rl: 1 } }))
  const trained = rows.flatMap(({ weights }) => [...weights.rl]).filter((weight) => weight !== 0)
  expect(trained).toHaveLength(sampled.reduce((sum, { output }) => sum + output.length, 0))
})
