import { readFileSync, statSync } from 'node:fs'
import { AgogeError, type ErrorCode } from '../error.ts'
import { parseForeignObject } from './foreign-json.ts'
import { checked, noSecrets, received, redacted, type Untrusted } from './untrusted.ts'

/** Bytes of a text file that somebody else may have written, several times those of the largest public `tokenizer.json`. */
const mostBytes = 2 ** 28

/**
 * The text of a file that somebody else may have written, such as one of a checkpoint.
 *
 * @param most bytes; a larger file is refused before it is read. Default: 256 MiB
 * @throws AgogeError `unusable-path` for a larger file; what the system says if it cannot be read
 */
export function receivedFile(path: string, most = mostBytes): Untrusted<string> {
  const { size } = statSync(path)
  if (size > most)
    throw new AgogeError(`${path} is too large`, {
      code: 'unusable-path',
      given: `${size} bytes`,
      expected: `at most ${most} bytes`,
    })
  return received(readFileSync(path, 'utf8'))
}

/** Reads such a file by a function that checks its text. `most` as for `receivedFile`. */
export function readForeignFile<T>(path: string, check: (text: string) => T, most = mostBytes): T {
  return redacted(checked(receivedFile(path, most), check), noSecrets)
}

/**
 * Reads such a file that holds a JSON object.
 *
 * @throws AgogeError with this code for another text
 */
export const readForeignObject = (path: string, code: ErrorCode): Record<string, unknown> =>
  readForeignFile(path, (text) => parseForeignObject(text, path, code))
