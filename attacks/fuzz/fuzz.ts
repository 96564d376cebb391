import type { AttackOptions, AttackPart, AttackResult } from '../attack.ts'
import { openMeasuredThread } from '../measured-thread.ts'
import type { MeasuredThread } from '../measured-thread.ts'
import type { FuzzParser } from './parser.ts'
import { parsers } from './parsers.ts'
import type { FuzzAnswer, FuzzTask } from './worker.ts'

const inputs = { quick: 40_000, whole: 1_000_000 }
/** Inputs of one task of a thread. */
const inTask = 500
const threadCount = 2
/** Processor time after which an input that has no end counts as endless. */
const limitSeconds = 5
/** Faults of a parser after which it is given up. */
const mostFaults = 200

/** Valid files, answers and requests, changed by their structure, given to every parser of bytes that come from outside. */
export const fuzz: AttackPart = {
  name: 'fuzz',
  about: 'valid input of every parser, changed by its structure: a million times',
  run: attackParsers,
}

/** What was done to one parser so far. */
interface Tally {
  parser: FuzzParser
  /** Inputs that it is to get. */
  count: number
  next: number
  pending: number
  reached: [number, number, number, number]
  slowest: number
  faults: { number: number; fault: string; shown: string }[]
}

async function attackParsers(options: AttackOptions): Promise<Record<string, number>> {
  const { seed, quick, folder, done, report, signal } = options
  const total = quick ? inputs.quick : inputs.whole
  const shares = parsers.reduce((sum, { share = 1 }) => sum + share, 0)
  const tallies = parsers
    .filter(({ name }) => !done.some((result) => result.name === name))
    .map((parser): Tally => {
      const count = Math.ceil((total * (parser.share ?? 1)) / shares)
      return { parser, count, next: 0, pending: 0, reached: [0, 0, 0, 0], slowest: 0, faults: [] }
    })
  const results: AttackResult[] = [...done]
  const work = async (): Promise<void> => {
    const thread = openMeasuredThread<FuzzTask, FuzzAnswer>(
      new URL('worker.ts', import.meta.url).href,
      folder,
      limitSeconds,
    )
    const stop = (): void => void thread.close()
    signal.addEventListener('abort', stop)
    try {
      for (const tally of tallies) {
        while (tally.next < tally.count && tally.faults.length < mostFaults && !signal.aborted)
          await attackSome(thread, tally, seed)
        if (signal.aborted || tally.pending > 0 || results.some(({ name }) => name === tally.parser.name))
          continue
        const result = resultOf(tally, seed)
        results.push(result)
        report(result)
      }
    } finally {
      signal.removeEventListener('abort', stop)
      await thread.close()
    }
  }
  await Promise.all(Array.from({ length: threadCount }, work))
  signal.throwIfAborted()
  return totalsOf(results)
}

/** Gives a parser its next inputs. One that breaks the thread is a fault, and the rest goes on behind it. */
async function attackSome(
  thread: MeasuredThread<FuzzTask, FuzzAnswer>,
  tally: Tally,
  seed: number,
): Promise<void> {
  let from = tally.next
  const to = Math.min(tally.count, from + inTask)
  tally.next = to
  tally.pending++
  while (from < to) {
    const answer = await thread.ask({ parser: tally.parser.name, seed, from, to })
    if (!('broken' in answer)) {
      for (const stage of [0, 1, 2, 3]) tally.reached[stage] += answer.reached[stage]
      tally.slowest = Math.max(tally.slowest, answer.slowest)
      tally.faults.push(...answer.faults)
      break
    }
    tally.faults.push({ number: answer.place, fault: answer.broken, shown: 'see replay.ts' })
    tally.reached[0]++
    from = answer.place + 1
    if (tally.faults.length >= mostFaults) break
  }
  tally.pending--
}

function resultOf({ parser, reached, slowest, faults }: Tally, seed: number): AttackResult {
  const count = reached.reduce((sum, each) => sum + each, 0)
  const [unreadable, read, fields, accepted] = reached
  const depth = `${count} inputs: ${unreadable} unreadable, ${read} read, ${fields} of the right fields, ${accepted} accepted`
  const kinds = new Map(faults.map((each) => [each.fault.replaceAll(/\d+/g, '0'), each]))
  const shown = [...kinds.values()]
    .slice(0, 4)
    .map(({ number, fault, shown: input }) => `number ${number} of seed ${seed}: ${fault}, for ${input}`)
  return {
    name: parser.name,
    held: faults.length === 0,
    happened: faults.length === 0 ? depth : `${depth}; ${faults.length} faults: ${shown.join('; ')}`,
    // Others work in a thread of their own.
    ...(parser.longest === undefined ? { longestSection: slowest } : {}),
  }
}

/** Totals over all parsers, also over those of an earlier call. */
function totalsOf(results: readonly AttackResult[]): Record<string, number> {
  const sums = [0, 0, 0, 0]
  for (const { happened } of results) {
    const [, ...found] =
      /(\d+) unreadable, (\d+) read, (\d+) of the right fields, (\d+) accepted/.exec(happened) ?? []
    for (const [stage, count] of found.entries()) sums[stage] += Number(count)
  }
  const all = sums.reduce((sum, each) => sum + each, 0)
  const share = (count: number): number => Math.round((1000 * count) / Math.max(1, all)) / 1000
  return {
    parsers: results.length,
    inputs: all,
    'share of the right fields': share(sums[2] + sums[3]),
    'share accepted': share(sums[3]),
  }
}
