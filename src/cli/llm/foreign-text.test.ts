import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { agoge } from '../testing/agoge.ts'

// Servers that try to steer the terminal, or to write lines of ours, by what they say.
const raw = fileURLToPath(new URL('../../llm/environment/mcp/fixtures/raw-server.mjs', import.meta.url))

function configure(server: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-foreign-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'mcp.json')
  writeFileSync(file, JSON.stringify({ mcpServers: { raw: server } }))
  return file
}

const annotations = { readOnlyHint: true }
const inputSchema = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }
const attack = '\u001B[2J\u001B]0;owned\u0007\u202E\u009B1A'
const tools = [
  { name: 'measure', annotations, inputSchema },
  { name: `shout${attack}`, annotations, inputSchema },
  { name: 'rm\nat most 3 calls in all.', inputSchema },
  { name: 'wide'.repeat(10_000), annotations, inputSchema },
  { name: 'odd', annotations, inputSchema: { type: `${attack}\nerror: no` } },
  {
    name: 'pattern',
    annotations,
    inputSchema: {
      type: 'object',
      properties: { [`p${attack}\nerror: no`]: { type: attack } },
      required: [`p${attack}\nerror: no`],
    },
  },
]

/** What a terminal would obey, line breaks and tabs apart. */
const obeyed = /[^\P{Cc}\n\t]|\p{Bidi_Control}|[\u2028\u2029]/u

test('names and reasons in the plan: nothing is obeyed, no line is forged, none is wide', async () => {
  const file = configure({
    command: process.execPath,
    args: [raw],
    env: { RAW_TOOLS: JSON.stringify(tools) },
  })
  const { err } = await agoge('eval', 'mcp:raw', '--mcp-config', file, '--tasks', '2')
  expect(err).toContain('  measure  reads (readOnlyHint)')
  expect(err).not.toMatch(obeyed)
  expect(err).not.toMatch(/^(?:at most 3|error: no)/m)
  expect(err).toContain(String.raw`shout\u001b[2J\u001b]0;owned\u0007\u202e\u009b1A: cannot be used`)
  expect(err).toContain('its name has 40000 characters, and MCP allows 128')
  expect(Math.max(...err.split('\n').map((line) => line.length))).toBeLessThan(400)
})

test('the last words of a server that dies are no commands to the terminal', async () => {
  const script = `console.error(${JSON.stringify(`${attack}\nerror: no\n  given: no`)}); process.exit(3)`
  const file = configure({ command: process.execPath, args: ['-e', script] })
  const { code, err } = await agoge('eval', 'mcp:raw', '--mcp-config', file, '--tasks', '2')
  expect(code).toBe(1)
  expect(err).not.toMatch(obeyed)
  expect(err.match(/^error:/gm)).toHaveLength(1)
  expect(err).toContain(String.raw`its last words: \u001b[2J`)
})

test('where no tool can be used every reason is shown whole, and no flag is advised that was given', async () => {
  const changing = Array.from({ length: 12 }, (_, index) => ({
    name: `change_something_number_${index}`,
    annotations: { readOnlyHint: false },
    inputSchema: { type: 'object' },
  }))
  const env = { RAW_TOOLS: JSON.stringify(changing) }
  const file = configure({ command: process.execPath, args: [raw], env })
  const { err } = await agoge('train', 'mcp:raw', '--mcp-config', file, '--sandbox', '--yes')
  for (const { name } of changing)
    expect(err).toContain(`  ${name}: the reference call changed nothing that is observed\n`)
  expect(err).toContain('"agoge": { "raw": {"reset":"slot","observe":["TOOL"]} }')
  expect(err.slice(err.indexOf('error:'))).not.toMatch(/--allow|--sandbox/)
})
