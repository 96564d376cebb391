import { spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { openRunFolder } from '../../runs/run-folder.ts'
import { initialState, loadState, saveCheckpoint } from './state.ts'
import { boxJob } from './testing/box-job.ts'

const child = fileURLToPath(new URL('testing/no-room-child.ts', import.meta.url))

/** Files of the folder, with their contents. */
function contents(folder: string): Record<string, string> {
  const names = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  return Object.fromEntries(
    names.map((entry) => {
      const path = join(entry.parentPath, entry.name)
      return [path, readFileSync(path, 'base64')]
    }),
  )
}

// A limit on file sizes simulates a full disk: writes also stop half-way.
test.skipIf(process.platform === 'win32')('where there is no room, nothing finished is lost', async () => {
  const path = join(mkdtempSync(join(tmpdir(), 'agoge-room-')), 'run')
  onTestFinished(() => rmSync(join(path, '..'), { recursive: true, force: true }))
  const folder = openRunFolder({ path })
  const backend = await boxJob(path).backend()
  onTestFinished(() => backend.dispose?.())
  folder.write('config.json', '{}')
  folder.write('summary.json', '{}')
  folder.append('metrics.jsonl', ['{"step":1}'])
  await saveCheckpoint(folder, backend, { ...initialState(), step: 1 })
  const before = contents(path)

  const command = 'trap "" XFSZ; ulimit -f 40; exec "$0" "$@"'
  const words = [process.execPath, '--import', 'tsx', '--conditions', 'agoge-source', child, path]
  const { stdout, stderr } = spawnSync('sh', ['-c', command, ...words], {
    encoding: 'utf8',
    timeout: 600_000,
    env: { ...process.env, TSX_DISABLE_CACHE: '1' },
  })
  const refusal = (file: string): string =>
    `Cannot write or read ${file}: the file would be too large (EFBIG)`
  expect(stdout.split('\n'), stderr).toEqual([
    `checkpoint: ${refusal(join(path, 'checkpoints', 'base-2'))}`,
    `again: ${refusal(join(path, 'checkpoints', 'base-2'))}`,
    `summary: ${refusal(join(path, 'summary.json'))}`,
    `metrics: ${refusal(join(path, 'metrics.jsonl'))}`,
    '',
  ])
  const metrics = join(path, 'metrics.jsonl')
  const torn = readFileSync(metrics, 'utf8')
  expect(torn.startsWith('{"step":1}\nxxx')).toBe(true)
  expect({ ...contents(path), [metrics]: '' }).toEqual({ ...before, [metrics]: '' })

  // With enough space, the run resumes from its checkpoint.
  expect((await loadState(folder))?.checkpoint).toBe('base-1')
  await backend.load(folder.file('checkpoints', 'base-1'))
  folder.append('metrics.jsonl', ['{"step":2}'])
  expect(folder.lines('metrics.jsonl')).toEqual(['{"step":1}', '{"step":2}'])
})
