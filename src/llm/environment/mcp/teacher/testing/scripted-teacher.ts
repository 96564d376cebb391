import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { Expert } from '../../../../agent/types.ts'

/** A request that the teacher knows, and what it does when it reads it. */
export interface KnownRequest {
  prompt: string
  plan: Expert
}

interface ChatBody {
  model: string
  messages: { role: string; content: string | null }[]
  tools?: unknown[]
  max_tokens?: number
}

export interface ScriptedTeacherOptions {
  requests: readonly KnownRequest[]
  /** The reply to a message that asks for drafts of a request. */
  drafts: (request: KnownRequest) => string
  /** Called with each body. A number is the HTTP status of the answer. */
  onRequest?: (body: ChatBody) => number | undefined
  /** Whether it reports the tokens that it used. Default: true. */
  counts?: boolean
}

/**
 * A scripted teacher: an OpenAI-compatible endpoint over HTTP, but no model. Without tools it replies with the given drafts. With
 * tools it looks for the longest known request that is part of the user's message and follows the plan of that one; so a draft
 * that quotes another request is read as that one.
 */
export async function scriptedTeacher({
  requests,
  drafts,
  onRequest,
  counts = true,
}: ScriptedTeacherOptions) {
  const asked: { body: ChatBody; authorization: string | undefined }[] = []
  const known = requests.toSorted((a, b) => b.prompt.length - a.prompt.length)
  const server = createServer((request, response) => {
    let text = ''
    request.on('data', (chunk: Buffer) => (text += chunk.toString()))
    request.on('end', () => {
      const body = JSON.parse(text) as ChatBody
      asked.push({ body, authorization: request.headers.authorization })
      const status = onRequest?.(body)
      if (status !== undefined) return response.writeHead(status, { 'retry-after': '0' }).end('out of order')
      const message = replyTo(body)
      const used = (value: unknown): number => Math.ceil(JSON.stringify(value).length / 4)
      const usage = { prompt_tokens: used(body), completion_tokens: used(message) }
      response.setHeader('content-type', 'application/json')
      response.end(
        JSON.stringify({
          choices: [{ message: { role: 'assistant', ...message }, finish_reason: 'stop' }],
          ...(counts && { usage }),
        }),
      )
    })
  })

  function replyTo({ messages, tools }: ChatBody) {
    const user = messages.find(({ role }) => role === 'user')?.content ?? ''
    const found = known.find(({ prompt }) => user.includes(prompt))
    if (tools === undefined) return { content: found === undefined ? 'What?' : drafts(found) }
    const results = messages
      .filter(({ role }) => role === 'tool')
      .map(({ content }) => ({ text: content ?? '', isError: false }))
    const move = found?.plan(results) ?? { answer: 'I do not understand.' }
    if ('answer' in move) return { content: move.answer }
    const { name, arguments: args } = move.call
    const call = { id: 'x', type: 'function', function: { name, arguments: JSON.stringify(args) } }
    return { content: null, tool_calls: [call] }
  }

  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { asked, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1` }
}

/** Drafts as the JSON that a teacher is asked for. */
export function draftsReply(drafts: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(drafts).map(([style, request]) => ({ style, request })))
}
