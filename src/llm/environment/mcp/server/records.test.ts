import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import sqlite from 'node-sqlite3-wasm'
import { expect, onTestFinished, test } from 'vitest'
import { resolveReset } from '../environment-config.ts'
import { createCallLimit } from './call-limit.ts'
import { openPooledServer } from './pooled-server.ts'
import { planSlot } from './slot.ts'

test('a secret in the rows of a database is hidden: arguments are made of them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const database = new sqlite.Database(join(folder, 'shop.db'))
  database.run('CREATE TABLE customers (name text, code text)')
  database.run("INSERT INTO customers VALUES ('Ada', 'open sesame')")
  database.close()
  const program = fileURLToPath(new URL('../fixtures/raw-server.mjs', import.meta.url))
  const server = { command: process.execPath, args: [program], cwd: folder, env: { RAW_TOOLS: '[]' } }
  const plan = planSlot('shop', server)
  const limit = createCallLimit({ allowed: [], maxCalls: 10 })
  const opened = await openPooledServer({
    server: plan.server,
    config: resolveReset({ reset: 'slot', observe: [] }, { remote: false, sandbox: true }),
    limit: () => limit,
    redact: (text) => text.replaceAll('open sesame', '[redacted]'),
    plan,
  })
  onTestFinished(() => opened.close())
  expect(await opened.records?.()).toContainEqual({ name: 'Ada', code: '[redacted]' })
})
