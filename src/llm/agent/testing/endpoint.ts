import { createServer } from 'node:http'
import type { IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { EpisodeNode } from '../../episode/types.ts'
import { createOpenAIActor } from '../openai-actor.ts'
import type { OpenAIActorOptions } from '../openai-actor.ts'
import type { ActRequest } from '../types.ts'

/** What the endpoint answers; without `hang` and `cut`, as JSON. */
export type Reply = {
  status?: number
  headers?: Record<string, string>
  body?: unknown
  hang?: boolean
  cut?: boolean
  /** Sent as it is. */
  text?: string
}

/** A real HTTP server with the given replies in order. It repeats the last one. */
export async function endpoint(replies: Reply[]) {
  const asked: { headers: IncomingHttpHeaders; url: string | undefined; body: Record<string, unknown> }[] = []
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk) => (text += String(chunk)))
    request.on('end', () => {
      const reply = replies[Math.min(asked.length, replies.length - 1)]
      asked.push({
        headers: request.headers,
        url: request.url,
        body: JSON.parse(text) as Record<string, unknown>,
      })
      if (reply.hang === true) return
      if (reply.cut === true) {
        request.socket.destroy()
        return
      }
      response.writeHead(reply.status ?? 200, { 'content-type': 'application/json', ...reply.headers })
      response.end(reply.text ?? JSON.stringify(reply.body ?? {}))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { asked, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/` }
}

/** A chat completion with this message. */
export function completion(message: Record<string, unknown>, finish = 'stop'): Reply {
  return {
    body: {
      choices: [{ message: { role: 'assistant', ...message }, finish_reason: finish }],
      usage: { prompt_tokens: 12, completion_tokens: 5 },
    },
  }
}

export function nodesOf(...nodes: Partial<EpisodeNode>[]): EpisodeNode[] {
  return nodes.map((node, id) => ({
    id,
    parent: id === 0 ? null : id - 1,
    agent: 'agent',
    role: 'user',
    text: '',
    tokens: new Int32Array(0),
    ...node,
  }))
}

export const request: ActRequest = {
  episode: 'e',
  turn: 1,
  nodes: nodesOf({ text: 'What is in /a?' }),
  tools: [{ name: 'read', description: 'Reads.', inputSchema: { type: 'object' } }],
}

/** The act of an actor whose endpoint gives these replies, and what it was asked. */
export async function actWith(
  replies: Reply[],
  options: Partial<OpenAIActorOptions> = {},
  signal?: AbortSignal,
) {
  const { asked, baseUrl } = await endpoint(replies)
  const actor = createOpenAIActor({
    baseUrl,
    model: 'm',
    apiKey: 'sk-secret',
    backoffSeconds: 0.001,
    ...options,
  })
  const [act] = await actor.act([request], signal === undefined ? {} : { signal })
  return { act, asked }
}
