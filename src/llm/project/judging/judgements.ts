import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { readWithChecksum, sha256, withChecksum } from '../../../runs/checksums.ts'
import { appendLines, makeFolder, readLines, withFileErrors, writeWhole } from '../../../runs/files.ts'

/** Readable answers of judges, by the hash of all that decides the question. */
export interface Judgements {
  get: (key: string) => string | undefined
  put: (key: string, answer: string) => void
}

/** Names a question: the judge's model and settings, and the question with what is to be judged. */
export const judgementKey = (judge: object, question: string): string =>
  sha256(JSON.stringify([judge, question]))

const file = 'judgements.jsonl'

/**
 * Opens the judgements that all evaluations of a folder share. Lines with a wrong checksum are passed over: their questions are asked
 * again. Evaluations may write at the same time.
 *
 * @param folder undefined: nothing is kept.
 */
export function openJudgements(folder: string | undefined): Judgements {
  if (folder === undefined) return { get: () => undefined, put: () => {} }
  const path = join(folder, file)
  const known = new Map(
    withFileErrors(path, () => readLines(path)).flatMap((line): [string, string][] => {
      const { fields, sum } = readWithChecksum(line) ?? {}
      const { key, answer } = fields ?? {}
      return sum !== undefined && typeof key === 'string' && typeof answer === 'string' ? [[key, answer]] : []
    }),
  )
  return {
    get: (key) => known.get(key),
    put(key, answer) {
      if (known.get(key) === answer) return
      known.set(key, answer)
      makeSharedFolder(folder)
      withFileErrors(path, () => appendLines(path, [withChecksum({ key, answer }).trimEnd()]))
    },
  }
}

/** Creates the folder that evaluations share. What it holds is not for version control. */
export function makeSharedFolder(folder: string): void {
  if (existsSync(folder)) return
  makeFolder(folder)
  writeWhole(join(folder, '.gitignore'), '*\n')
}
