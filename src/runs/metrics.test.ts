import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readMetrics } from './metrics.ts'
import { openRunFolder } from './run-folder.ts'

test('damaged lines are left out, and a note names each', () => {
  const path = mkdtempSync(join(tmpdir(), 'agoge-metrics-'))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  const folder = openRunFolder({ path })
  const good = { phase: 'rl', step: 1, seconds: 2, metrics: { reward: 0.5 } }
  folder.append('metrics.jsonl', [JSON.stringify(good), '{"phase":"rl","st', '7', '{"phase":"rl","step":3}'])
  const notes: string[] = []
  const found = readMetrics(folder, (event) => event.type === 'note' && notes.push(event.text))
  expect(found).toEqual([good])
  expect(notes).toEqual(
    [2, 3, 4].map(
      (line) => `${join(path, 'metrics.jsonl')}:${line} is damaged; the curves of the report leave it out`,
    ),
  )
})
