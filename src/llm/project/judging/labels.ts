import { AgogeError } from '../../../error.ts'
import { appendLines, readLines, withFileErrors } from '../../../runs/files.ts'
import { parseForeignJson } from '../../../untrusted/foreign-json.ts'
import { isRecord } from '../../../untrusted/schema-check.ts'

/** What a person says of a trial. */
export interface Label {
  /** The id of the trial: `MODEL/TASK/NUMBER`. */
  trial: string
  rater: string
  /** Null: the label was taken back. */
  success: boolean | null
  /** How long the trial was looked at. */
  seconds?: number
  /** When it was given, in ISO 8601. */
  at?: string
}

/** The file of the labels in the folder of an evaluation. */
export const labelsFile = 'labels.jsonl'

/** Appends a label to a file at once. */
export function appendLabel(file: string, label: Label): void {
  withFileErrors(file, () => appendLines(file, [JSON.stringify(label)]))
}

/**
 * The labels that count: of each rater and trial the last, unless it was taken back. Empty if there is no file.
 *
 * @throws AgogeError `bad-option` naming the line that is no label.
 */
export function readLabels(file: string): Label[] {
  const labels = new Map<string, Label>()
  for (const [at, line] of withFileErrors(file, () => readLines(file)).entries()) {
    if (line.trim() === '') continue
    const label = readLabel(line, `${file}:${at + 1}`)
    labels.set(JSON.stringify([label.rater, label.trial]), label)
  }
  return [...labels.values()].filter(({ success }) => success !== null)
}

function readLabel(line: string, place: string): Label {
  let value: unknown
  try {
    value = parseForeignJson(line)
  } catch {
    value = undefined
  }
  const { trial, rater = 'somebody', success, seconds, at } = isRecord(value) ? value : {}
  const isRight =
    typeof trial === 'string' &&
    typeof rater === 'string' &&
    (typeof success === 'boolean' || success === null)
  if (!isRight)
    throw new AgogeError(`${place} is no label`, {
      code: 'bad-option',
      given: line.slice(0, 80),
      expected: '{"trial": "MODEL/TASK/NUMBER", "rater": "NAME", "success": true}',
    })
  return {
    trial,
    rater,
    success,
    ...(typeof seconds === 'number' && { seconds }),
    ...(typeof at === 'string' && { at }),
  }
}

/** What the raters say of each trial together: the majority. Trials on which they are split evenly are left out, and counted. */
export function majority(labels: readonly Label[]): { labels: Map<string, boolean>; split: number } {
  const votes = new Map<string, number>()
  for (const { trial, success } of labels)
    votes.set(trial, (votes.get(trial) ?? 0) + (success === true ? 1 : -1))
  const decided = [...votes].filter(([, vote]) => vote !== 0)
  return {
    labels: new Map(decided.map(([trial, vote]) => [trial, vote > 0])),
    split: votes.size - decided.length,
  }
}
