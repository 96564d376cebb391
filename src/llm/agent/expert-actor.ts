import type { EpisodeNode } from '../episode/types.ts'
import { encodeMessage, lastResult } from '../tokenizer/template.ts'
import type { Tokenizer } from '../tokenizer/tokenizer.ts'
import type { ChatFormat } from './chat-format/types.ts'
import { createWindows } from './chat-actor.ts'
import type { Act, Actor, ActRequest, Task } from './types.ts'

export interface ExpertActorOptions {
  /** The task of each episode, by episode id. */
  tasks: ReadonlyMap<string, Pick<Task, 'plan'>>
  /** Encodes the expert's acts, so that a local policy can learn from them. Without it, tokens are empty. */
  tokenizer?: Tokenizer
  /** Replaces `tokenizer` for a model with a chat template. */
  format?: ChatFormat
}

const none = { tokens: new Int32Array(0), mask: new Uint8Array(0) }

/** Follows the reference plan of each task. Used for demonstrations and to verify that tasks can be solved. */
export function createExpertActor(options: ExpertActorOptions): Actor {
  const { tasks, tokenizer, format } = options
  const windows = format === undefined ? undefined : createWindows(format)

  function act(request: ActRequest): Act | Error {
    const task = tasks.get(request.episode)
    if (task === undefined) return new Error(`there is no reference plan for episode ${request.episode}`)
    const move = task.plan(results(request.nodes))
    const text = 'answer' in move ? move.answer : (move.thought ?? '')
    const calls = 'call' in move ? [{ id: `${request.turn}.0`, ...move.call }] : []
    if (windows !== undefined) {
      const window = windows.next(request)
      const message = { role: 'assistant', text, ...(calls.length === 0 ? {} : { calls }) } as const
      const output = windows.write(window, message)
      const said = { output, logprobs: new Float32Array(output.length), message }
      return { text, calls, finish: 'stop', weightVersion: 0, ...windows.spoke(window, said) }
    }
    const encoded =
      tokenizer === undefined
        ? none
        : encodeMessage(tokenizer, { role: 'assistant', text, calls }, lastResult(request.nodes))
    return {
      text,
      calls,
      finish: 'stop',
      tokens: encoded.tokens,
      logprobs: new Float32Array(encoded.tokens.length),
      mask: encoded.mask,
      weightVersion: 0,
      promptTokens: request.nodes.reduce((sum, node) => sum + node.tokens.length, 0),
    }
  }

  return {
    name: 'expert',
    sampling: { temperature: 0 },
    encode: ({ role, text }) =>
      tokenizer === undefined ? none.tokens : encodeMessage(tokenizer, { role, text }).tokens,
    act: (requests) =>
      Promise.resolve(
        requests.map((request) => {
          try {
            return act(request)
          } catch (error) {
            return error instanceof Error ? error : new Error(String(error))
          }
        }),
      ),
  }
}

function results(nodes: readonly EpisodeNode[]): { text: string; isError: boolean }[] {
  return nodes
    .filter((node) => node.role === 'tool')
    .map((node) => ({ text: node.text, isError: node.isError === true }))
}
