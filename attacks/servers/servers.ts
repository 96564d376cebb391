// npm run attack -- servers: `agoge tasks` on servers that attack it, one mode after the other.
import { execFileSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { AttackPart, AttackResult } from '../attack.ts'
import { runCli } from '../run-cli.ts'
import { brokenPromise, happened } from './judge.ts'
import { mostMemory, remainingFolders, remainingProcesses } from './leftovers.ts'
import { serverModes, type ServerMode } from './modes.ts'
import { preparePlace, serverName } from './prepare.ts'
import { startWebServer } from './web-server.ts'

/** Seconds that a command may take on a busy machine. Most take three on an idle one. */
const limitSeconds = 240

/** `agoge tasks` on hostile MCP servers. */
export const servers: AttackPart = {
  name: 'servers',
  about: 'hostile MCP servers: lists, schemas, results, floods, processes, files and secrets',
  async run({ quick, folder, done, report, signal }) {
    const all = quick ? serverModes.filter((mode) => mode.quick === true) : serverModes
    const held = done.filter((result) => result.held).length
    const modes = all.filter(({ name }) => !done.some((result) => result.name === name))
    let [next, more] = [0, 0]
    // Two at a time: each waits for its server most of the time.
    const worker = async (): Promise<void> => {
      while (next < modes.length && !signal.aborted) {
        const mode = modes[next++]
        const result = await attackServer(mode, join(folder, mode.mode), signal)
        if (signal.aborted) return
        if (result.held) more++
        report(result)
      }
    }
    await Promise.all([worker(), worker()])
    signal.throwIfAborted()
    return { modes: all.length, held: held + more }
  },
}

/** Runs the command on one mode in a new folder, which is removed afterwards. */
export async function attackServer(
  mode: ServerMode,
  folder: string,
  signal: AbortSignal,
): Promise<AttackResult> {
  mkdirSync(folder)
  const place = await preparePlace(folder, mode)
  let pid = 0
  let memory = 0
  const looking = setInterval(() => (memory = Math.max(memory, mostMemory(pid))), 100)
  const web = mode.http === true ? await startWebServer(mode.mode, place) : undefined
  const ways = web === undefined ? ['--sandbox'] : ['--sandbox=remote', '--calls-per-second', '500']
  const args = ['tasks', `mcp:${serverName}`, ...ways, '--yes', '--count', '4', '--out', 'tasks.jsonl']
  try {
    const { env, begun } = place
    const ended = await runCli(args, {
      cwd: folder,
      env,
      limitSeconds,
      sectionsAfter: begun,
      onStart: (started) => (pid = started),
      signal,
    })
    const sentOn = web?.sentOn() ?? false
    await web?.close()
    const remaining = [
      ...(await remainingProcesses({ secret: place.secrets[0], tag: place.tag })),
      ...remainingFolders(pid, env['TMPDIR']),
    ]
    const attacked = { mode, place, ended, limitSeconds, memory, remaining, sentOn }
    const broken = brokenPromise(attacked)
    const { longestSection } = ended
    return {
      name: mode.name,
      held: broken === undefined,
      happened: broken ?? happened(attacked),
      ...(longestSection === undefined ? {} : { longestSection }),
    }
  } finally {
    clearInterval(looking)
    await web?.close()
    execFileSync('rm', ['-rf', '--', folder])
  }
}
