import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { agentProject } from '../testing/agent-project.ts'
import { agoge } from '../testing/agoge.ts'
import { answeredCalls, killOften, plannedKills } from '../testing/kill-often.ts'

test('killed at many points, a search goes on to the same result and repeats no completed call', async () => {
  const [cwd, whole] = [0, 1].map(() => agentProject({ milliseconds: 3, tasks: 160, first: 'half' }))
  const run = (folder: string, ...words: string[]) =>
    agoge('optimise', '-c', join(folder, 'agoge.config.mjs'), '--json', join(folder, 'x.json'), ...words)
  expect((await run(whole, '--out', join(whole, 'out'))).code).toBe(0)
  const kills = await killOften('optimise', cwd)
  expect(kills).toBe(plannedKills)
  expect((await run(cwd, '--resume', join(cwd, 'out'))).code).toBe(0)
  const [a, b] = [cwd, whole].map((folder) => comparable(join(folder, 'x.json')))
  expect(a).toEqual(b)
  // Demonstrations help more than the other model, and the search found that.
  expect(a).toMatchObject({
    isShown: true,
    best: { lever: expect.stringContaining('demonstrations') as string },
  })
  const answers = answeredCalls(cwd)
  expect(new Set(answers).size).toBe(answers.length)
  expect(answers).toHaveLength(answeredCalls(whole).length)
  // The services were asked again only for what was under way when they were killed.
  const asked = readFileSync(join(cwd, 'calls.txt'), 'utf8').match(/^(?:good|half) /gm) ?? []
  expect(asked.length).toBeLessThanOrEqual(answers.length + 3 * kills)
}, 600_000)

/** A result without times and without what calls that were cut off have cost. */
function comparable(file: string): unknown {
  const {
    spent: _,
    test: held,
    ...rest
  } = JSON.parse(readFileSync(file, 'utf8')) as {
    spent: unknown
    test: { models: { success: unknown }[] } | null
  }
  return { ...rest, success: held?.models.map(({ success }) => success) }
}
