import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openRunFolder } from '../../run-folder.ts'
import { readRun } from '../run-record.ts'

const clocks = /"(\w*[sS]econds?|stepsPerSecond)":[\d.e+-]+,?/g

/** The figures of a run without those of the clock. */
export const metrics = (folder: string): string =>
  readFileSync(join(folder, 'metrics.jsonl'), 'utf8').replaceAll(clocks, '')

/** Everything in the last checkpoint but the clock. */
export function learned(folder: string): unknown {
  const { state } = readRun(openRunFolder({ path: folder }))
  return { ...(state as object), seconds: 0, evaluationSeconds: 0 }
}
