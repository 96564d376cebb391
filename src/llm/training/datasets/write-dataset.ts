import { extname } from 'node:path'
import { AgogeError } from '../../../error.ts'
import { writeWhole } from '../../../runs/whole-file.ts'
import { toParquet } from './parquet.ts'

const formats = ['.jsonl', '.parquet']

/** @throws AgogeError `unknown-format` for a file that is neither `.jsonl` nor `.parquet`. */
export function checkDatasetFile(file: string): void {
  if (formats.includes(extname(file))) return
  throw new AgogeError(`The ending of ${file} does not say what it is to be.`, {
    code: 'unknown-format',
    given: extname(file) === '' ? 'no ending' : extname(file),
    expected: formats.join(' or '),
  })
}

/** Writes rows as JSONL or Parquet, as the ending of the file says; the file is whole or not there. */
export function writeDataset(file: string, rows: readonly Readonly<Record<string, unknown>>[]): void {
  checkDatasetFile(file)
  if (extname(file) === '.parquet') writeWhole(file, toParquet(rows))
  else writeWhole(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
}
