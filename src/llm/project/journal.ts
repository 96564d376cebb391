import { keepLines } from '../../runs/kept-lines.ts'
import type { Episode } from '../episode/types.ts'
import type { Spending } from './budget.ts'

/** A finished trial, as it is kept and reported. */
export interface TrialRecord {
  model: string
  task: string
  kind: string
  trial: number
  status: Episode['status']
  ending: Episode['ending']
  success: boolean | null
  /** By scorer. */
  scores: Record<string, number | null>
  /** Of the agent. What judges cost is reported for each judge. */
  cost: Spending
  /** Seconds of the trial, without the waiting for a free place. */
  seconds: number
  /** Calls of the model, and tokens as the provider counted them. */
  modelCalls: number
  usage: Episode['usage']
  error?: string
}

/** What a tool gave: its result, or its error as text. */
export type ToolOutcome = { result: unknown } | { error: string }

/**
 * What an evaluation has done so far, in one file that grows line by line. A process that continues it reads the answers of completed
 * calls there instead of asking again.
 */
export interface Journal {
  /** Finished trials by their id. */
  trials: ReadonlyMap<string, TrialRecord>
  /** What earlier processes spent. Calls that were under way when one was killed count with the most that they can have cost. */
  spent: Spending
  answer: (trial: string, key: string) => unknown
  /** What the calls of a trial, or of a judge, have cost so far, and how many were answered. */
  costOf: (trial: string) => Spending & { calls: number }
  /** The reservation of a call of an earlier process that was under way when that was killed; it is in `spent`. */
  interrupted: (trial: string, key: string) => Spending | undefined
  /** What a tool gave; `started` if it was called and its end is not known. */
  tool: (trial: string, key: string) => ToolOutcome | 'started' | undefined
  write: (line: JournalLine) => void
}

/** `trial` is the id of a trial, `key` names a call of it. */
export type JournalLine =
  | { type: 'sent'; trial: string; key: string; most: Spending }
  | { type: 'answer'; trial: string; key: string; cost: Spending; result: unknown }
  | { type: 'failed'; trial: string; key: string; cost: Spending }
  | { type: 'tool-start'; trial: string; key: string }
  | ({ type: 'tool'; trial: string; key: string } & ToolOutcome)
  | { type: 'trial'; trial: string; record: TrialRecord }
  /** Trials that were scored together. */
  | { type: 'trials'; records: [trial: string, record: TrialRecord][] }

/**
 * Opens the journal of an evaluation.
 *
 * @param file undefined: nothing is stored.
 * @param of what decides its trials. A journal of something else is refused.
 * @throws AgogeError as `keepLines` does.
 */
export function openJournal(file: string | undefined, of: object, { resume = false } = {}): Journal {
  const { earlier, keep } =
    file === undefined ? { earlier: [], keep: () => {} } : keepLines(file, of, { resume })
  const trials = new Map<string, TrialRecord>()
  const answers = new Map<string, unknown>()
  const tools = new Map<string, ToolOutcome | 'started'>()
  const open = new Map<string, { trial: string; most: Spending }>()
  const costs = new Map<string, Spending & { calls: number }>()
  const costOf = (trial: string): Spending & { calls: number } =>
    costs.get(trial) ?? { tokens: 0, dollars: 0, calls: 0 }
  const spend = (trial: string, { tokens, dollars }: Spending, calls: number): void => {
    const before = costOf(trial)
    costs.set(trial, {
      tokens: before.tokens + tokens,
      dollars: before.dollars + dollars,
      calls: before.calls + calls,
    })
  }
  for (const line of earlier as unknown as JournalLine[]) {
    if (line.type === 'trial') {
      trials.set(line.trial, line.record)
      continue
    }
    if (line.type === 'trials') {
      for (const [trial, record] of line.records) trials.set(trial, record)
      continue
    }
    const place = placeOf(line.trial, line.key)
    if (line.type === 'sent') open.set(place, { trial: line.trial, most: line.most })
    else if (line.type === 'tool-start') tools.set(place, 'started')
    else if (line.type === 'tool')
      tools.set(place, 'error' in line ? { error: line.error } : { result: revive(line.result) })
    else {
      open.delete(place)
      spend(line.trial, line.cost, Number(line.type === 'answer'))
      if (line.type === 'answer') answers.set(place, revive(line.result))
    }
  }
  for (const { trial, most } of open.values()) spend(trial, most, 0)
  const spent: Spending = { tokens: 0, dollars: 0 }
  for (const { tokens, dollars } of costs.values()) {
    spent.tokens += tokens
    spent.dollars += dollars
  }
  return {
    trials,
    spent,
    costOf,
    answer: (trial, key) => answers.get(placeOf(trial, key)),
    interrupted: (trial, key) => open.get(placeOf(trial, key))?.most,
    tool: (trial, key) => tools.get(placeOf(trial, key)),
    write(line) {
      keep('result' in line ? { ...line, result: flatten(line.result) } : line)
      if (line.type === 'answer' || line.type === 'failed')
        spend(line.trial, line.cost, Number(line.type === 'answer'))
    },
  }
}

const placeOf = (trial: string, key: string): string => `${trial} ${key}`

const bytesTag = '$bytes'
const dateTag = '$date'

/** Results of model objects hold bytes and dates, which JSON cannot. */
function flatten(value: unknown): unknown {
  if (value instanceof Uint8Array) return { [bytesTag]: Buffer.from(value).toString('base64') }
  if (value instanceof Date) return { [dateTag]: value.toISOString() }
  if (Array.isArray(value)) return value.map(flatten)
  if (typeof value !== 'object' || value === null) return typeof value === 'bigint' ? String(value) : value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, flatten(inner)]))
}

/** The inverse of `flatten`. */
function revive(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(revive)
  if (typeof value !== 'object' || value === null) return value
  const { [bytesTag]: bytes, [dateTag]: date } = value as Record<string, unknown>
  if (typeof bytes === 'string') return new Uint8Array(Buffer.from(bytes, 'base64'))
  if (typeof date === 'string') return new Date(date)
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, revive(inner)]))
}
