import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'

/** A request that a service got. */
export interface Received {
  path: string
  headers: IncomingMessage['headers']
  body: Record<string, unknown>
}

/** A service that answers by a script, until the test ends. `closeNext`: it resets the connection of the next request. */
export async function startService(
  answer: (request: Received, response: ServerResponse) => void | Promise<void>,
): Promise<{ url: string; received: Received[]; closeNext: () => void }> {
  const received: Received[] = []
  let closesNext = false
  const server = createServer((incoming, outgoing) => {
    if (closesNext) {
      closesNext = false
      incoming.socket.resetAndDestroy()
      return
    }
    let text = ''
    incoming.setEncoding('utf8').on('data', (part: string) => (text += part))
    incoming.on('end', () => {
      const body = text === '' ? {} : (JSON.parse(text) as Record<string, unknown>)
      const request = { path: incoming.url ?? '', headers: incoming.headers, body }
      received.push(request)
      void answer(request, outgoing)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const closeNext = (): void => void (closesNext = true)
  return { url: `http://127.0.0.1:${port}`, received, closeNext }
}

export function sendJson(response: ServerResponse, body: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json', 'x-request-id': 'r-1' })
  response.end(JSON.stringify(body))
}

export function sendEvents(response: ServerResponse, events: readonly unknown[], isWhole = true): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  for (const event of events) {
    const { type } = event as { type?: string }
    response.write(`${type === undefined ? '' : `event: ${type}\n`}data: ${JSON.stringify(event)}\n\n`)
  }
  if (isWhole) response.end()
  else setTimeout(() => response.destroy(), 20)
}

// Exchanges written from the documentation of the services (November 2026): they are not recordings.

export const chatAnswer = (content: string | null, calls?: unknown[]) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'gpt-x',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content, refusal: null, ...(calls && { tool_calls: calls }) },
      logprobs: null,
      finish_reason: calls ? 'tool_calls' : 'stop',
    },
  ],
  usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
})

export const chatEvents = (pieces: readonly string[]) => {
  const chunk = (delta: object, finish: string | null = null) => ({
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'gpt-x',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  })
  return [
    chunk({ role: 'assistant', content: '' }),
    ...pieces.map((content) => chunk({ content })),
    chunk({}, 'stop'),
  ]
}

export const responseAnswer = (text: string) => ({
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'gpt-x',
  output: [
    { type: 'reasoning', id: 'rs_1', summary: [] },
    {
      type: 'message',
      id: 'msg_1',
      status: 'completed',
      role: 'assistant',
      content: [{ type: 'output_text', text, annotations: [] }],
    },
  ],
  usage: { input_tokens: 9, output_tokens: 3, total_tokens: 12 },
})

export const messageEvents = (pieces: readonly string[]) => [
  {
    type: 'message_start',
    message: {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'claude-x',
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { input_tokens: 9, output_tokens: 1 },
    },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'ping' },
  ...pieces.map((text) => ({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } })),
  { type: 'content_block_stop', index: 0 },
  {
    type: 'content_block_start',
    index: 1,
    content_block: { type: 'tool_use', id: 'toolu_1', name: 'price', input: {} },
  },
  { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '{"of": ' } },
  { type: 'content_block_delta', index: 1, delta: { type: 'input_json_delta', partial_json: '"tea"}' } },
  { type: 'content_block_stop', index: 1 },
  {
    type: 'message_delta',
    delta: { stop_reason: 'tool_use', stop_sequence: null },
    usage: { output_tokens: 5 },
  },
  { type: 'message_stop' },
]
