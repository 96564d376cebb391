import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'

/**
 * The hash of each file that equal runs have with equal bytes: the checkpoints that are left and `state.json`, or the one named. Empty if
 * there are none.
 */
export function fingerprint(folder: string, output?: string): ReadonlyMap<string, string> {
  const names = output === undefined ? ['state.json', ...beneath(folder, 'checkpoints')] : [output]
  return new Map(
    names
      .filter((name) => existsSync(join(folder, name)))
      .map((name) => [name, hashOf(readFileSync(join(folder, name)))] as const),
  )
}

/** The first file that differs or that only one of both has; undefined if none does. */
export function firstDifference(
  expected: ReadonlyMap<string, string>,
  given: ReadonlyMap<string, string>,
): string | undefined {
  return [...new Set([...expected.keys(), ...given.keys()])].find(
    (name) => expected.get(name) !== given.get(name),
  )
}

function beneath(folder: string, inner: string): string[] {
  if (!existsSync(join(folder, inner))) return []
  return readdirSync(join(folder, inner), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort()
}

/** Durations and the command in reports of evaluations and papers are not of their result. */
const durations =
  /"(?:seconds|evaluationSeconds|date|command|latency\w*)":\s*(?:[\d.e-]+|"[^"]*"|\{[^}]*\}),?/g

const hashOf = (bytes: Buffer): string => {
  const isReport = bytes.subarray(0, 1).toString() === '{' && bytes.length < 1e7
  return createHash('sha256')
    .update(isReport ? bytes.toString().replaceAll(durations, '') : bytes)
    .digest('hex')
}
