import type { EpisodeNode } from '../episode/types.ts'
import { encodeMessage } from '../language/template.ts'
import type { Tokenizer } from '../language/tokenizer.ts'
import type { Act, Actor, ActRequest, Task } from './types.ts'

export interface PlannerActorOptions {
  /** The task of each episode, by episode id. */
  tasks: ReadonlyMap<string, Pick<Task, 'plan'>>
  /** Encodes what the planner does for a local policy to learn from; without it the tokens are empty. */
  tokenizer?: Tokenizer
}

const none = { tokens: new Int32Array(0), mask: new Uint8Array(0) }

/** Follows the reference plan of each task: for demonstrations, and for proving that a task can be solved. */
export function createPlannerActor(options: PlannerActorOptions): Actor {
  const { tasks, tokenizer } = options

  function act(request: ActRequest): Act | Error {
    const task = tasks.get(request.episode)
    if (task === undefined) return new Error(`the planner knows no task of episode ${request.episode}`)
    const move = task.plan(results(request.nodes))
    const text = 'answer' in move ? move.answer : (move.thought ?? '')
    const calls = 'call' in move ? [{ id: `${request.turn}.0`, ...move.call }] : []
    const encoded =
      tokenizer === undefined ? none : encodeMessage(tokenizer, { role: 'assistant', text, calls })
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
    name: 'planner',
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
