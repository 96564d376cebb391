import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { AgogeError } from '../../error.ts'
import { InfrastructureError } from './tool.ts'
import { resolveServer } from './server-config.ts'
import { createServerPool } from './server-pool.ts'
import type { ServerPool, ServerPoolOptions } from './server-pool.ts'

const faulty = {
  command: process.execPath,
  args: [fileURLToPath(new URL('fixtures/faulty-server.mjs', import.meta.url))],
}
const filesystem = resolveServer({
  package: '@modelcontextprotocol/server-filesystem',
  version: '2026.8.31',
}).config

function poolOf(options: ServerPoolOptions): ServerPool {
  const pool = createServerPool(options)
  onTestFinished(() => pool.close())
  return pool
}

async function folders(count: number): Promise<string[]> {
  const made = await Promise.all(Array.from({ length: count }, () => mkdtemp(join(tmpdir(), 'agoge-pool-'))))
  onTestFinished(() => Promise.all(made.map((folder) => rm(folder, { recursive: true }))).then(() => {}))
  return made
}

test('many leases may wait on one signal without a warning', async () => {
  const warnings: string[] = []
  const hear = ({ name }: Error): void => void warnings.push(name)
  process.on('warning', hear)
  onTestFinished(() => void process.off('warning', hear))
  const pool = poolOf({ server: faulty, size: 1 })
  const { signal } = new AbortController()
  const pids = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const lease = await pool.lease({ signal })
      const { text } = await lease.call('pid', {})
      await lease.release()
      return text
    }),
  )
  expect(new Set(pids).size).toBe(1)
  expect(warnings).toEqual([])
})

test('every lease sees its own root and no other', async () => {
  const roots = await folders(12)
  await Promise.all(roots.map((root, i) => writeFile(join(root, 'a.txt'), `I am ${i}`)))
  const pool = poolOf({ server: filesystem, size: 2, roots: true })
  await Promise.all(
    roots.map(async (root, i) => {
      for (let round = 0; round < 3; round++) {
        const lease = await pool.lease({ root })
        expect((await lease.call('read_text_file', { path: 'a.txt' })).text).toBe(`I am ${i}`)
        const other = await lease.call('read_text_file', {
          path: join(roots[(i + 1) % roots.length], 'a.txt'),
        })
        expect(other.isError).toBe(true)
        await lease.release()
      }
    }),
  )
})

test('at most two servers run, and no two leases share one', async () => {
  const pool = poolOf({ server: faulty, size: 2 })
  let held = 0
  let most = 0
  const pids = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const lease = await pool.lease()
      most = Math.max(most, ++held)
      await lease.call('slow', {})
      const { text } = await lease.call('pid', {})
      held--
      await lease.release()
      return text
    }),
  )
  expect(most).toBe(2)
  expect(new Set(pids).size).toBe(2)
})

test('a crashed or hung server is replaced on the next lease', async () => {
  const pool = poolOf({ server: faulty, size: 1, callSeconds: 5 })
  const pids: string[] = []
  for (const fault of ['crash', 'spin', undefined]) {
    const lease = await pool.lease()
    pids.push((await lease.call('pid', {})).text)
    if (fault !== undefined) await expect(lease.call(fault, {})).rejects.toBeInstanceOf(InfrastructureError)
    await lease.release()
  }
  expect(new Set(pids).size).toBe(3)
})

test('a fresh lease starts a process that no other lease has used', async () => {
  const pool = poolOf({ server: faulty, size: 1 })
  const counts: string[] = []
  for (const fresh of [true, false, true]) {
    const lease = await pool.lease({ fresh })
    counts.push((await lease.call('count', {})).text)
    await lease.release()
  }
  expect(counts).toEqual(['1', '2', '1'])
})

test('waiting for a server can be given up, and closing refuses those who wait', async () => {
  const pool = poolOf({ server: (index) => ({ ...faulty, env: { SLOT: String(index) } }), size: 1 })
  const held = await pool.lease()
  const stop = new AbortController()
  const given = expect(pool.lease({ signal: stop.signal })).rejects.toThrow('enough')
  const refused = expect(pool.lease()).rejects.toBeInstanceOf(InfrastructureError)
  stop.abort(new Error('enough'))
  await given
  await pool.close()
  await refused
  await expect(held.call('pid', {})).rejects.toBeInstanceOf(InfrastructureError)
  await expect(pool.lease()).rejects.toBeInstanceOf(InfrastructureError)
})

test('a lease on a root that does not exist fails and leaves the pool usable', async () => {
  const [root] = await folders(1)
  const pool = poolOf({ server: filesystem, size: 1, roots: true })
  await expect(pool.lease({ root: join(root, 'missing') })).rejects.toThrow(/ENOENT/)
  const lease = await pool.lease({ root })
  expect((await lease.call('list_directory', { path: '.' })).isError).toBe(false)
  await lease.release()
  await expect(lease.call('list_directory', { path: '.' })).rejects.toThrow(/released/)
})

test('a command that does not exist is reported as it is', async () => {
  const pool = poolOf({ server: { command: 'no-such-program-here' }, size: 1 })
  await expect(pool.lease()).rejects.toBeInstanceOf(AgogeError)
})
