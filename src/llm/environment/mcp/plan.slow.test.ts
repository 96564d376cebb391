import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'

const shelf = fileURLToPath(new URL('fixtures/shelf-server.mjs', import.meta.url))
const main = fileURLToPath(new URL('../../../cli/main.ts', import.meta.url))
/** `script` of util-linux gives a program a terminal. */
const noTerminal = spawnSync('script', ['--version']).stdout?.toString().includes('util-linux') !== true

/** `agoge eval` of a server whose plan needs a yes, at a terminal where `keys` are typed once it is asked. */
async function answer(keys: string): Promise<{ code: number | null; shown: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-plan-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const env = { SHELF_TOOLS: 'put_item list_items', SHELF_FILE: '{slot}/shelf' }
  const file = join(folder, 'mcp.json')
  writeFileSync(
    file,
    JSON.stringify({
      mcpServers: { shelf: { command: process.execPath, args: [shelf], env } },
      agoge: { shelf: { reset: { files: ['shelf'] }, observe: ['list_items'] } },
    }),
  )
  const words = ['eval', 'mcp:shelf', '--mcp-config', file, '--sandbox', '--tasks', '2']
  const command = [process.execPath, '--import', 'tsx', '--conditions', 'agoge-source', main, ...words]
  const child = spawn('script', ['-qec', command.map((word) => `'${word}'`).join(' '), '/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  let shown = ''
  let typed = false
  child.stdout.on('data', (data: Buffer) => {
    shown += data.toString()
    if (typed || !shown.includes('Go on? [y/N]')) return
    typed = true
    child.stdin.write(keys)
  })
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, shown }
}

test.skipIf(noTerminal).each<[string, string, number, RegExp]>([
  ['Ctrl-C', '\u0003', 130, /interrupted; what was finished is kept/],
  ['Ctrl-D', '\u0004', 1, /the plan of calls was not confirmed/],
  ['Enter', '\r', 1, /the plan of calls was not confirmed/],
])('%s at the question: no call is made', async (_, keys, expected, message) => {
  const { code, shown } = await answer(keys)
  expect(shown).toMatch(message)
  expect(code).toBe(expected)
  expect(shown).not.toMatch(/\n\s+at /)
})
