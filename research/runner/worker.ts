// A process of `runPaper`: runs one arm of one paper with one seed.
import { pathToFileURL } from 'node:url'
import type { ArmResult, Paper } from './paper.ts'
import type { PaperJob } from './run-paper.ts'

process.on('message', (message) => void answer(message as PaperJob))

async function answer({ file, arm, seed, quick }: PaperJob): Promise<void> {
  try {
    const { default: paper } = (await import(pathToFileURL(file).href)) as { default: Paper }
    const started = performance.now()
    const returned = await paper.arms[arm]({ seed, budget: quick ? paper.quick : paper.budget })
    const result: ArmResult = typeof returned === 'number' ? { score: returned } : returned
    process.send?.({ ...result, seconds: (performance.now() - started) / 1000 })
  } catch (error) {
    process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
}
