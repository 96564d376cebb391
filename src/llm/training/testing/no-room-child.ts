import { openRunFolder } from '../../../runs/run-folder.ts'
import { loadState, saveCheckpoint } from '../state.ts'
import { boxJob } from './box-job.ts'

// A process with no room for large files: tries to write into the run of the given folder, and prints how each attempt ended.
const path = process.argv[2]
const folder = openRunFolder({ path })
const backend = await boxJob(path).backend()
const state = (await loadState(folder))?.state
if (state === undefined) throw new Error(`${path} holds no state`)
const attempts: Record<string, () => unknown> = {
  checkpoint: () => saveCheckpoint(folder, backend, { ...state, step: state.step + 1 }),
  again: () => saveCheckpoint(folder, backend, { ...state, step: state.step + 1 }),
  summary: () => folder.write('summary.json', 'x'.repeat(1 << 20)),
  metrics: () => folder.append('metrics.jsonl', ['x'.repeat(1 << 20)]),
}
for (const [name, attempt] of Object.entries(attempts)) {
  try {
    await attempt()
    process.stdout.write(`${name}: written\n`)
  } catch (error) {
    process.stdout.write(`${name}: ${error instanceof Error ? error.message : String(error)}\n`)
  }
}
await backend.dispose?.()
