import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { agentProject } from '../testing/agent-project.ts'
import { agoge } from '../testing/agoge.ts'
import { answeredCalls, killOften, plannedKills } from '../testing/kill-often.ts'

test('killed at many points, an evaluation goes on to the same result and repeats no completed call', async () => {
  const cwd = agentProject({ milliseconds: 3, tasks: 50 })
  const whole = agentProject({ milliseconds: 3, tasks: 50 })
  await agoge(
    'eval',
    '-c',
    join(whole, 'agoge.config.mjs'),
    '--out',
    join(whole, 'out'),
    '--json',
    join(whole, 'x.json'),
  )
  const kills = await killOften('eval', cwd)
  expect(kills).toBe(plannedKills)
  const { code } = await agoge(
    'eval',
    '-c',
    join(cwd, 'agoge.config.mjs'),
    '--resume',
    join(cwd, 'out'),
    '--json',
    join(cwd, 'x.json'),
  )
  expect(code).toBe(0)
  const [a, b] = [cwd, whole].map((folder) => comparable(join(folder, 'x.json')))
  expect(a).toEqual(b)
  // The journal has each answer once; a call that was killed before its answer was kept may have been made again.
  const answers = answeredCalls(cwd)
  expect(new Set(answers).size).toBe(answers.length)
  expect(answers).toHaveLength(200)
  // The service was asked again only for what was under way, three trials at a time, when it was killed.
  const asked = readFileSync(join(cwd, 'calls.txt'), 'utf8').match(/^(?:good|half) /gm) ?? []
  expect(asked.length).toBeLessThanOrEqual(200 + 3 * kills)
}, 400_000)

/** A result without what depends on the clock and on calls that were under way when it was killed. */
function comparable(file: string): unknown {
  const {
    spent: _,
    models,
    records,
    ...rest
  } = JSON.parse(readFileSync(file, 'utf8')) as {
    spent: unknown
    models: { seconds: unknown }[]
    records: { seconds: number }[]
  }
  const timeless = ({ seconds: _seconds, ...others }: { seconds: unknown }): object => others
  return { ...rest, models: models.map(timeless), records: records.map(timeless) }
}
