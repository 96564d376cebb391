import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { type SmallLearnerName, smallLearners } from '../algorithm/testing/small-learners.ts'
import { classicAlgorithms } from '../algorithms.ts'
import { checkpointBytes, metrics, smallRun } from './testing/short-run.ts'
import { trainClassic } from './train-classic.ts'
import type { ClassicTrainOptions } from './types.ts'

const root = mkdtempSync(join(tmpdir(), 'agoge-resume-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

async function train(options: ClassicTrainOptions): Promise<void> {
  const { agent } = await trainClassic(options)
  await agent.dispose()
}

test.each(Object.keys(classicAlgorithms))(
  '%s: a run that is stopped and resumed has the same checkpoint and metrics as an uninterrupted run',
  async (name) => {
    expect(Object.keys(smallLearners), 'a small learner of every algorithm').toContain(name)
    const run = (folder: string): ClassicTrainOptions => ({
      ...smallRun(name as SmallLearnerName, join(root, name, folder)),
      steps: 1200,
    })
    await train(run('whole'))
    const stop = new AbortController()
    let lines = 0
    const stopped = train({
      ...run('stopped'),
      signal: stop.signal,
      onEvent({ type }) {
        if (type === 'step' && ++lines === 2) stop.abort(new Error('enough'))
      },
    })
    await expect(stopped).rejects.toThrow('enough')
    await train({ ...run('stopped'), resume: true })
    const [whole, resumed] = ['whole', 'stopped'].map((folder) => join(root, name, folder))
    expect(checkpointBytes(resumed) === checkpointBytes(whole), 'bytes of the checkpoint').toBe(true)
    expect(metrics(resumed)).toBe(metrics(whole))
  },
)
