// A process of `runPaper`: runs one arm of one paper with one seed.
import { pathToFileURL } from 'node:url'
import type { Paper } from './paper.ts'
import type { PaperJob } from './run-paper.ts'

process.on('message', (message) => void answer(message as PaperJob))

async function answer({ file, arm, seed, quick }: PaperJob): Promise<void> {
  try {
    const { default: paper } = (await import(pathToFileURL(file).href)) as { default: Paper }
    const started = performance.now()
    const score = await paper.arms[arm]({ seed, budget: quick ? paper.quick : paper.budget })
    process.send?.({ score, seconds: (performance.now() - started) / 1000 })
  } catch (error) {
    process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
  }
}
