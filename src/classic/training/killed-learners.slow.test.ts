import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { checkpointBytes, killedLearners, learned, metrics, smallRun } from './testing/short-run.ts'
import { workUntil } from '../../runs/testing/faults.ts'
import { trainClassic } from './train-classic.ts'
import type { ClassicTrainOptions } from './types.ts'

const script = new URL('./testing/several-child.ts', import.meta.url)

let root: string

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'agoge-killed-'))
  expect(await workUntil(script, root, 3, 5)).toBeNull()
})

afterAll(() => rmSync(root, { recursive: true, force: true }))

async function train(options: ClassicTrainOptions): Promise<void> {
  const { agent } = await trainClassic(options)
  await agent.dispose()
}

test.each(killedLearners)(
  '%s: a run that is killed and resumed gives the same bits as an uninterrupted run',
  async (name) => {
    const killed = join(root, name)
    expect(existsSync(join(killed, 'state.json'))).toBe(true)
    expect(existsSync(join(killed, 'summary.json'))).toBe(false)
    await train({ ...smallRun(name, killed), resume: true })
    const whole = join(root, `${name}, whole`)
    await train(smallRun(name, whole))
    expect(learned(killed)).toEqual(learned(whole))
    expect(checkpointBytes(killed) === checkpointBytes(whole), 'bytes of the checkpoint').toBe(true)
    expect(metrics(killed)).toBe(metrics(whole))
  },
)
