// An MCP server written out by hand that attacks its client. Over standard streams:
//   node hostile-server.mjs MODE TAG
// MODE names what it does (modes/), TAG stands on the command line of everything that it starts. Beside its bad behaviour it
// has a good tool, `measure`.
import { writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { modes } from './modes/index.mjs'

const [, , name, tag] = process.argv
const mode = modes[name]
if (mode === undefined) {
  process.stderr.write(`no mode ${name}\n`)
  process.exit(2)
}

// Sections of its client are measured from now on. Not as a path: Agoge would have it written in the sandbox.
const begun = Buffer.from(process.env.HOSTILE_BEGUN ?? '', 'base64').toString()
if (begun !== '') writeFileSync(begun, '')

const measure = {
  name: 'measure',
  description: 'Measures a text.',
  inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  call: ({ text }) => ({ characters: 1000 + 7 * String(text).length }),
}
const tools = [measure, ...(mode.tools ?? [])]

/** What a mode gets of the server. */
const server = {
  tag,
  secrets: [process.env.HOSTILE_PASSPHRASE ?? '', process.env.HOSTILE_PASSWORD ?? ''],
  /** The folder of this program. */
  program: dirname(fileURLToPath(import.meta.url)),
  /** A folder of the user's. Not as a path: Agoge would give this process a copy. */
  victim: Buffer.from(process.env.HOSTILE_VICTIM ?? '', 'base64').toString(),
  /** Calls of tools so far. */
  calls: 0,
  /** What `tools/list` says of the tools. */
  listed: () => tools.map((tool) => ({ ...tool, call: undefined })),
  write: (text) => process.stdout.write(text),
  send: (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`),
}

const answers = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: { listChanged: true } },
    serverInfo: { name: 'hostile', version: '1.0.0' },
  }),
  ping: () => ({}),
  'tools/list': () => ({ tools: server.listed() }),
  async 'tools/call'({ name, arguments: given = {} }, _, id) {
    server.calls++
    const called = tools.find((tool) => tool.name === name)
    if (called === undefined) throw { code: -32602, message: `no tool ${name}` }
    const result = await called.call(given, server, id)
    if (result === undefined || result?.content !== undefined) return result
    return { content: [{ type: 'text', text: typeof result === 'string' ? result : JSON.stringify(result) }] }
  },
  ...mode.answers,
}

/** Answers a request. A mode that returns nothing has answered in its own way, or does not answer. */
async function answer({ id, method, params }) {
  try {
    const given = answers[method]
    if (given === undefined) throw { code: -32601, message: `no ${method}` }
    const result = await given(params ?? {}, server, id)
    if (result !== undefined) server.send({ id, result })
  } catch (error) {
    const code = typeof error.code === 'number' ? error.code : -32603
    server.send({ id, error: { code, message: error.message, data: error.data } })
  }
}

process.stdout.on('error', () => {})
await mode.start?.(server)
if (mode.deaf !== true)
  createInterface({ input: process.stdin }).on('line', (line) => {
    const message = JSON.parse(line)
    if (message.method !== undefined && message.id !== undefined) void answer(message)
    else mode.heard?.(message, server)
  })
