import { parseForeignJson } from '../untrusted/foreign-json.ts'
import type { MetricsRecord, OnTrainingEvent, RunFolder } from './run-folder.ts'

/** A line for each step and each validation. */
export const metricsFile = 'metrics.jsonl'

/**
 * The metrics of a run, in order. They only draw curves, so a damaged line is left out, and a note names it.
 *
 * @throws AgogeError naming the file if it cannot be read.
 */
export function readMetrics(folder: RunFolder, emit: OnTrainingEvent): MetricsRecord[] {
  return folder.lines(metricsFile).flatMap((line, at) => {
    const record = readRecord(line)
    if (record !== undefined) return [record]
    const where = `${folder.file(metricsFile)}:${at + 1}`
    emit({ type: 'note', text: `${where} is damaged; the curves of the report leave it out` })
    return []
  })
}

function readRecord(line: string): MetricsRecord | undefined {
  let value: unknown
  try {
    value = parseForeignJson(line)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null) return undefined
  const { phase, step, metrics } = value as Partial<Record<keyof MetricsRecord, unknown>>
  const isRecord =
    typeof phase === 'string' && typeof step === 'number' && typeof metrics === 'object' && metrics !== null
  return isRecord ? (value as MetricsRecord) : undefined
}
