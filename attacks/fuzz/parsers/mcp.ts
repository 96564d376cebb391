// What is configured of MCP servers, and what they answer.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AgogeError } from '../../../src/error.ts'
import { parseEnvironmentConfig } from '../../../src/llm/environment/mcp/environment-config.ts'
import { callResult, checkNames, toolsPage } from '../../../src/llm/tool/mcp-results.ts'
import { createMessageReader } from '../../../src/llm/tool/message-reader.ts'
import { createRedactor, redactTools } from '../../../src/llm/tool/redact.ts'
import { redacted } from '../../../src/untrusted/untrusted.ts'
import { listServers, readServerConfig } from '../../../src/llm/tool/server-config.ts'
import { deepestJson, nestingOf } from '../../../src/untrusted/foreign-json.ts'
import { locateJsonError } from '../../../src/untrusted/json-error.ts'
import { makeJson } from '../mutate-json.ts'
import { bytesOf, isRecord, jsonOf, Mismatch, mustEqual, textOf } from '../parser.ts'
import type { FuzzParser } from '../parser.ts'
import { folder } from '../scratch.ts'

const configurations = {
  examples: [
    {
      mcpServers: {
        files: {
          command: 'npx',
          args: ['-y', 'server', '${workspaceFolder}'],
          env: { KEY: '${SECRET}', LOG: 'debug' },
        },
        web: {
          url: 'https://example.com/mcp?key=${SECRET:-none}',
          headers: { Authorization: 'Bearer ${env:SECRET}' },
        },
      },
      agoge: { files: { reset: { files: ['data'] }, observe: ['list'] } },
    },
    {
      servers: {
        a: {
          type: 'http',
          url: 'http://127.0.0.1:1/mcp',
          oauth: {
            grant: 'client_credentials',
            clientId: 'a',
            clientSecret: 'b',
            issuer: 'https://a',
            redirectPort: 1,
          },
        },
        b: { command: 'node', cwd: 'sub', args: [] },
        c: { url: 'https://example.com', oauth: true },
      },
    },
  ].map((each) => JSON.stringify(each)),
  words: [
    ...'mcpServers servers command args env cwd url headers type oauth grant clientId clientSecret scope issuer redirectPort'.split(
      ' ',
    ),
    ...'sse http authorization_code ${SECRET} ${SECRET:-} ${} ${:-} ${env:} ${workspaceFolder} ${A${B}} https://[ http://a:b@c'.split(
      ' ',
    ),
  ],
}

const mcpJson: FuzzParser = {
  name: '.mcp.json',
  share: 0.7,
  make: (random) => makeJson(random, configurations),
  parse(input, reach) {
    const text = textOf(input)
    const read = jsonOf(text.replace(/^\uFEFF/, ''))
    if (read !== undefined) reach(1)
    const isFound = locateJsonError(text.replace(/^\uFEFF/, '')) === undefined
    if (isFound !== (read !== undefined)) throw new Mismatch('JSON.parse and locateJsonError differ')
    if (isRecord(read?.value) && (isRecord(read.value['mcpServers']) || isRecord(read.value['servers'])))
      reach(2)
    const file = join(folder(), 'mcp.json')
    writeFileSync(file, text)
    const options = { file, environment: { SECRET: 'sk-live-4242' } }
    const { names } = listServers(options)
    const found = names.flatMap((name) => {
      try {
        return [readServerConfig(name, options)]
      } catch (error) {
        if (!AgogeError.isInstance(error)) throw error
        return []
      }
    })
    if (found.length > 0) reach(3)
    for (const config of found)
      if (
        createRedactor([config]).text('key sk-live-4242').includes('4242') &&
        (config.expanded ?? []).length > 0
      )
        throw new Mismatch('a value of a variable is not hidden')
  },
}

const entries = {
  examples: [
    {
      reset: 'slot',
      observe: ['list', '{files}'],
      env: { A: '{slot}/a' },
      ignore: ['id'],
      connectSeconds: 60,
    },
    { reset: { command: 'rm -r x' }, resultLimit: 500, slotMegabytes: 0.5, service: 'postgres' },
    { reset: { files: ['a', 'b'] }, examples: { get: [{ id: 1 }, { id: 2, tags: ['a'] }] } },
    {
      reset: { roots: true },
      service: { start: 'run', reset: 'clear', seed: 'fill', show: 'print', user: 'a' },
    },
    { service: { kind: 'redis', seed: 'x' } },
  ].map((each) => JSON.stringify(each)),
  words: [
    ...'reset observe env ignore connectSeconds resultLimit slotMegabytes service examples kind start seed show user command'.split(
      ' ',
    ),
    ...'files roots auto slot restart none postgres redis {files} {slot}'.split(' '),
  ],
}

const agogeEntry: FuzzParser = {
  name: 'the agoge entry of .mcp.json',
  make: (random) => makeJson(random, entries),
  parse(input, reach) {
    const read = jsonOf(input)
    if (read === undefined) return
    reach(1)
    if (isRecord(read.value)) reach(2)
    const config = parseEnvironmentConfig(read.value, 'agoge.a')
    reach(3)
    if (nestingOf(textOf(input)) > deepestJson) return
    mustEqual(
      parseEnvironmentConfig(JSON.parse(JSON.stringify(config)), 'agoge.a'),
      config,
      'an entry read again',
    )
  },
}

const pages = {
  examples: [
    {
      tools: [
        {
          name: 'add',
          description: 'Adds two numbers',
          inputSchema: {
            type: 'object',
            properties: { a: { type: 'integer', minimum: 0 }, b: { $ref: '#/$defs/n' } },
            required: ['a'],
            $defs: { n: { type: ['number', 'null'], description: 'a number from 1 to 9' } },
          },
          annotations: { readOnlyHint: true, title: 'Add' },
          outputSchema: { type: 'object' },
        },
        {
          name: 'find',
          inputSchema: { type: 'object', properties: { q: { type: 'string', pattern: '^[a-z]+$' } } },
        },
      ],
      nextCursor: 'b',
    },
    {
      tools: [
        { name: 'x', inputSchema: { type: 'object', anyOf: [{ required: ['a'] }, { required: ['b'] }] } },
      ],
    },
    { tools: [] },
  ].map((each) => JSON.stringify(each)),
  words: [
    ...'tools nextCursor name description inputSchema annotations outputSchema readOnlyHint destructiveHint type object'.split(
      ' ',
    ),
    ...'properties required $defs $ref #/$defs/n anyOf allOf oneOf not items enum const pattern patternProperties'.split(
      ' ',
    ),
  ],
}

const list: FuzzParser = {
  name: 'tools/list',
  share: 2,
  make: (random) => makeJson(random, pages),
  parse(input, reach) {
    const read = jsonOf(input)
    if (read === undefined) return
    reach(1)
    const page = toolsPage['~standard'].validate(read.value)
    if (page instanceof Promise || page.issues !== undefined) return
    reach(2)
    const { specs, unusable } = checkNames(
      redactTools([page.value.tools], (text) => text.replaceAll('secret', '[redacted]')),
    )
    if (specs.length > 0) reach(3)
    const total = (read.value as { tools: unknown[] }).tools.length
    if (specs.length + unusable.length !== total) throw new Mismatch('a tool is neither listed nor left out')
  },
}

const results = {
  examples: [
    { content: [{ type: 'text', text: 'a.txt\nb.txt' }], isError: false },
    {
      content: [
        { type: 'image', data: 'AA==', mimeType: 'image/png' },
        { type: 'resource', resource: { uri: 'file:///a', text: 'hello' } },
        { type: 'resource', resource: { uri: 'file:///b', mimeType: 'a/b', blob: 'AA==' } },
        { type: 'resource_link', uri: 'file:///c', name: 'c' },
        { type: 'audio', data: 'AA==', mimeType: 'audio/wav' },
      ],
    },
    { content: [], structuredContent: { rows: [{ id: 1, name: 'a' }] } },
    { content: [{ type: 'text', text: '{"id":1}' }], structuredContent: { id: 1 }, isError: true },
  ].map((each) => JSON.stringify(each)),
  words:
    'content type text image audio resource resource_link mimeType data uri blob structuredContent isError annotations'.split(
      ' ',
    ),
}

const toolResult: FuzzParser = {
  name: 'tools/call',
  make: (random) => makeJson(random, results),
  parse(input, reach) {
    const read = jsonOf(input)
    if (read === undefined) return
    reach(1)
    const checked = callResult['~standard'].validate(read.value)
    if (checked instanceof Promise || checked.issues !== undefined) return
    reach(2)
    const result = redacted(checked.value, (text) => text)
    if (typeof result.text !== 'string') throw new Mismatch('a result without text')
    if (!result.isError) reach(3)
  },
}

const messages = {
  examples: [
    { jsonrpc: '2.0', id: 1, result: { tools: [], _meta: { a: 1 } } },
    { jsonrpc: '2.0', id: 'a', error: { code: -32_601, message: 'no such method', data: [1] } },
    { jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'x' } },
    { jsonrpc: '2.0', id: 2, method: 'roots/list' },
  ].map((each) => JSON.stringify(each)),
  words: [
    'jsonrpc',
    '2.0',
    'id',
    'result',
    'error',
    'code',
    'message',
    'method',
    'params',
    '_meta',
    'progressToken',
  ],
}

const messageLines: FuzzParser = {
  name: 'messages of an MCP server',
  share: 0.7,
  make(random) {
    const lines = Array.from({ length: 1 + random.int(3) }, () => makeJson(random, messages))
    return `${lines.join(random.pick(['\n', '\r\n', '\n\n', '\nListening on 3000\n']))}\n`
  },
  async parse(input, reach) {
    const bytes = Buffer.from(bytesOf(input))
    let isRefused = false
    const reader = createMessageReader({
      onMessage: () => reach(3),
      // Both are reported to the user, and end the connection or the message.
      onError: () => reach(2),
      onRefused: () => void (isRefused = true),
      onFull: () => {},
    })
    if (jsonOf(textOf(input).split('\n')[0]) !== undefined) reach(1)
    const half = bytes.length >> 1
    reader.push(bytes.subarray(0, half))
    reader.push(bytes.subarray(half))
    await new Promise<void>((resolve) => (isRefused ? resolve() : reader.end(resolve)))
    reader.stop()
  },
}

export const mcpParsers: readonly FuzzParser[] = [mcpJson, agogeEntry, list, toolResult, messageLines]
