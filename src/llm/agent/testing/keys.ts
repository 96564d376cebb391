import { createLocalBackend } from '../../backend/local-backend.ts'
import { smallConfig } from '../../model/config.ts'
import type { LocalBackend } from '../../backend/local-backend.ts'
import type { ModelBackend } from '../../model-backend.ts'
import type { EpisodeSpec } from '../episode-state.ts'
import type { Act, Actor, Task, ToolEnvironment } from '../types.ts'

/**
 * Tokens: 1 starts the policy's output, 2 and 3 are the tasks `a` and `b`, 4 to 11 keys (two tokens per key), 12 and 13 the
 * environment's messages.
 */
const speak = 1
const words: Record<string, number> = { a: 2, b: 3, ping: 12, buzz: 13 }
const keys = 4

export const keysModel = {
  ...smallConfig,
  vocab_size: 14,
  hidden_size: 16,
  num_hidden_layers: 1,
  num_attention_heads: 2,
  num_key_value_heads: 1,
  intermediate_size: 24,
  max_position_embeddings: 32,
}

export const keysBackend = (seed: number): LocalBackend =>
  createLocalBackend({ config: keysModel, seed, threads: 1 })

/** Emits one token per turn, which presses a key from 0 to 3. */
export function createKeysActor(backend: Pick<ModelBackend, 'sample'>, seed: number): Actor {
  return {
    name: 'keys',
    sampling: { temperature: 1 },
    encode: ({ text }) => Int32Array.of(words[text]),
    async act(requests) {
      const asked = requests.map(({ episode, turn, nodes }) => ({
        prompt: Int32Array.of(...nodes.flatMap(({ tokens }) => [...tokens]), speak),
        key: `${episode}:${turn}`,
      }))
      const outputs = await backend.sample(asked, { maxTokens: 1, stop: [], temperature: 1, seed })
      return outputs.map(({ tokens, logprobs, weightVersion }, i): Act => {
        const call = { id: `${requests[i].turn}`, name: 'press', arguments: { key: tokens[0] % keys } }
        return {
          text: '',
          calls: [call],
          finish: 'stop',
          tokens: Int32Array.of(speak, tokens[0]),
          logprobs: Float32Array.of(0, logprobs[0]),
          mask: Uint8Array.of(0, 1),
          weightVersion,
          promptTokens: asked[i].prompt.length,
        }
      })
    },
  }
}

/** The right key of a turn. The second task shifts each key by one. */
export const rightKey = (task: string, turn: number): number => (turn + (task === 'a' ? 1 : 2)) % keys

const press = {
  name: 'press',
  inputSchema: { type: 'object', properties: { key: { type: 'integer' } }, required: ['key'] },
} as const

/**
 * An environment with one right key per turn, for as many turns as the limits allow.
 *
 * @param settings.rewarded whether a right key is rewarded at once.
 * @param settings.tells whether the environment reports right keys.
 * @param settings.succeeds maps the hits of an episode to its score.
 */
export function createKeysEnvironment(settings: {
  rewarded: boolean
  tells: boolean
  succeeds: (hits: readonly boolean[]) => boolean
}): ToolEnvironment {
  return {
    name: 'keys',
    tools: [press],
    open(task) {
      const hits: boolean[] = []
      return Promise.resolve({
        specs: [press],
        call(_name, { key }) {
          const hit = key === rightKey(task.prompt, hits.length)
          hits.push(hit)
          const text = settings.tells && hit ? 'ping' : 'buzz'
          return Promise.resolve({
            text,
            isError: false,
            ...(settings.rewarded ? { reward: Number(hit) } : {}),
          })
        },
        judge: () => Promise.resolve(Number(settings.succeeds(hits))),
        close: () => Promise.resolve(),
      })
    },
    close: () => Promise.resolve(),
  }
}

/** `size` episodes of each task. */
export function keysSpecs(name: string, size: number): EpisodeSpec[] {
  return ['a', 'b'].flatMap((prompt) =>
    Array.from({ length: size }, (_, member) => ({
      id: `${name}/${prompt}/${member}`,
      group: `${name}/${prompt}`,
      task: keysTask(prompt),
    })),
  )
}

const keysTask = (prompt: string): Task => ({
  id: prompt,
  kind: 'keys',
  seed: 0,
  split: 'train',
  prompt,
  difficulty: 1,
  context: {},
  plan: () => ({ answer: '' }),
})

/** Limits for episodes of this many turns. */
export const keysLimits = (turns: number) => ({ turns, deadlineSeconds: 600, toolDeadlineSeconds: 120 })
