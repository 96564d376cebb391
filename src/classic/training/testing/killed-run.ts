import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openRunFolder } from '../../../runs/run-folder.ts'
import { readRun } from '../run-record.ts'

const clocks = /"(\w*[sS]econds?|stepsPerSecond)":[\d.e+-]+,?/g

/** The figures of a run without those of the clock. */
export const metrics = (folder: string): string =>
  readFileSync(join(folder, 'metrics.jsonl'), 'utf8').replaceAll(clocks, '')

/** Everything in the last checkpoint. */
export const learned = (folder: string): unknown => readRun(openRunFolder({ path: folder })).state

/** The bytes of the last checkpoint. */
export const checkpointBytes = (folder: string): string =>
  readFileSync(join(folder, 'checkpoints', 'last.bin'), 'base64')
