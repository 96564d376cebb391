import { readFileSync } from 'node:fs'

/** Fewer are not enough to load the programs of Agoge. */
const fewest = 128

/**
 * The error for a process that may open too few files at once. Undefined if it may open enough, and where the system does not say (only Linux does).
 *
 * @param limits the text of `/proc/self/limits`. Default: that of this process.
 */
export function openFilesProblem(limits: string = readLimits()): string | undefined {
  const [, soft] = /^Max open files +(\d+)/m.exec(limits) ?? []
  if (soft === undefined || Number(soft) >= fewest) return undefined
  return [
    'error: This process may open too few files at once',
    `  given:    ${soft}`,
    `  expected: ${fewest} or more`,
    '  hint:     Raise the limit: ulimit -n 1024',
    '',
  ].join('\n')
}

function readLimits(): string {
  try {
    return readFileSync('/proc/self/limits', 'latin1')
  } catch {
    return ''
  }
}
