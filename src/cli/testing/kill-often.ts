import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/** Kills of a test. */
export const plannedKills = 50

/**
 * Runs a command again and again, and kills it (SIGKILL) after about one more answer in the journal of `out`, at another place each time.
 *
 * @returns how often it was killed, up to `plannedKills`; fewer if it ended before.
 */
export async function killOften(command: string, cwd: string): Promise<number> {
  let kills = 0
  while (kills < plannedKills) {
    const place = kills === 0 ? ['--out', 'out'] : ['--resume', 'out']
    const child = spawn(process.execPath, [resolve('dist/cli/main.js'), command, ...place], {
      cwd,
      stdio: 'ignore',
    })
    const ended = new Promise<number | null>((resolved) => child.on('exit', (code) => resolved(code)))
    const before = answersIn(cwd)
    const timer = setInterval(
      () => {
        if (answersIn(cwd) > before) child.kill('SIGKILL')
      },
      1 + (kills % 4),
    )
    const code = await ended
    clearInterval(timer)
    if (code === 0) break
    kills += 1
  }
  return kills
}

function answersIn(folder: string): number {
  try {
    return readFileSync(join(folder, 'out', 'journal.jsonl'), 'utf8').split('"type":"answer"').length
  } catch {
    return 0
  }
}

/** The calls whose answers a journal holds. Each is there once. */
export function answeredCalls(folder: string): string[] {
  return readFileSync(join(folder, 'out', 'journal.jsonl'), 'utf8')
    .split('\n')
    .filter((line) => line.includes('"type":"answer"'))
    .map((line) => /"trial":"([^"]+)","key":"([^"]+)"/.exec(line)?.slice(1).join(' ') ?? line)
}
