import { createHash } from 'node:crypto'
import type { McpTask } from './mcp-task.ts'

/** What identifies generated tasks: equal for equal requests, scenes and expected results in the same order; 16 hexadecimal digits. */
export function fingerprintTasks(tasks: readonly McpTask[]): string {
  const hash = createHash('sha256')
  for (const { id, kind, prompt, difficulty, seeds, expected } of tasks)
    hash.update(`${JSON.stringify([id, kind, prompt, difficulty, seeds, expected])}\n`)
  return hash.digest('hex').slice(0, 16)
}
