import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { agentProject } from '../testing/agent-project.ts'
import { agoge } from '../testing/agoge.ts'

test('killed at 50 points, an evaluation goes on to the same result and repeats no completed call', async () => {
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
  const begin = (words: string[]) =>
    spawn(process.execPath, [resolve('dist/cli/main.js'), 'eval', ...words], { cwd, stdio: 'ignore' })
  let kills = 0
  for (let point = 0; kills < 50 && point < 60; point += 1) {
    const child = begin(point === 0 ? ['--out', 'out'] : ['--resume', 'out'])
    const ended = new Promise<number | null>((resolved) => child.on('exit', (code) => resolved(code)))
    const before = completed(cwd)
    // Killed after about one more call: a different place each time.
    const timer = setInterval(
      () => {
        if (completed(cwd) > before) child.kill('SIGKILL')
      },
      1 + (point % 4),
    )
    const code = await ended
    clearInterval(timer)
    if (code === 0) break
    kills += 1
  }
  expect(kills).toBe(50)
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
  const answers = readFileSync(join(cwd, 'out', 'journal.jsonl'), 'utf8')
    .split('\n')
    .filter((line) => line.includes('"type":"answer"'))
    .map((line) => /"trial":"([^"]+)","key":"([^"]+)"/.exec(line)?.slice(1).join(' '))
  expect(new Set(answers).size).toBe(answers.length)
  expect(answers).toHaveLength(200)
  // The service was asked again only for what was under way, three trials at a time, when it was killed.
  const asked = readFileSync(join(cwd, 'calls.txt'), 'utf8').match(/^(?:good|half) /gm) ?? []
  expect(asked.length).toBeLessThanOrEqual(200 + 3 * kills)
}, 400_000)

/** Answers in the journal. */
function completed(folder: string): number {
  try {
    return readFileSync(join(folder, 'out', 'journal.jsonl'), 'utf8').split('"type":"answer"').length
  } catch {
    return 0
  }
}

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
