import { fileURLToPath, pathToFileURL } from 'node:url'
import { writeWhole } from '../runs/files.ts'
import { keepLines } from '../runs/kept-lines.ts'
import { machine } from '../runs/run-folder.ts'
import { type Console, table, describeError } from './shared/console.ts'

/** The parts of the command line that the experiments in research/ may use. */
interface Tools extends Pick<Console, 'out' | 'err' | 'signal'> {
  table: typeof table
  describeError: typeof describeError
  keepLines: typeof keepLines
  writeWhole: typeof writeWhole
  machine: string
}

interface Papers {
  listPapers: (options: { json?: boolean }, tools: Tools) => Promise<void>
  runPaperCommand: (
    options: {
      id: string
      quick?: boolean
      workers?: number
      resume?: boolean
      commandLine: string
    },
    tools: Tools,
  ) => Promise<void>
  planPaperCommand: (
    options: {
      id: string
      pilotSeeds?: number
      most?: number
      minutes?: number
      workers?: number
      commandLine: string
    },
    tools: Tools,
  ) => Promise<void>
  reportPapers: (options: { out?: string }, tools: Tools) => void
}

/** Loads the commands of research/ on demand. They lie beside the built library and use only its public exports. */
export async function openPapers(terminal: Console): Promise<Papers & { tools: Tools }> {
  const place = import.meta.url.endsWith('.js')
    ? '../research/command/papers.js'
    : '../../research/command/papers.ts'
  const file = fileURLToPath(new URL(place, import.meta.url))
  const papers = (await import(/* @vite-ignore */ pathToFileURL(file).href)) as Papers
  const { cpu, cores, node } = machine()
  const { out, err, signal } = terminal
  return {
    ...papers,
    tools: {
      out,
      err,
      signal,
      table,
      describeError,
      keepLines,
      writeWhole,
      machine: `${cores} cores of ${cpu}, Node ${node}`,
    },
  }
}
