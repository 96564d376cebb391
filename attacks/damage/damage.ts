// npm run attack -- damage: each file of a stopped run is damaged in five ways. The run must be refused with the name of the file, or say what it did
// without it, or end with the bytes of a run that was left alone.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { basename, join, relative } from 'node:path'
import type { AttackOptions, AttackPart, AttackResult } from '../attack.ts'
import { fingerprint, firstDifference } from '../kills/fingerprint.ts'
import { type RunKind, runKinds } from '../kills/kinds.ts'
import { killAt } from '../kills/victim.ts'
import { type Ended, runCli } from '../run-cli.ts'

const kindNames = [
  'cartpole ppo',
  'cartpole dqn',
  'frozen-lake q-learning',
  'filesystem',
  'train-offline dpo',
]
const quickNames = ['frozen-lake q-learning']

/** Seconds that a run may take on a busy machine. */
const limitSeconds = 900
/** One thread each, because others are resumed beside it. */
const env = { AGOGE_THREADS: '1' }

/** Ways in which disks and people damage a file. */
const ways: Readonly<Record<string, (path: string) => void>> = {
  truncated: (path) =>
    writeFileSync(path, readFileSync(path).subarray(0, Math.floor(readFileSync(path).length / 2))),
  flipped(path) {
    const bytes = readFileSync(path)
    if (bytes.length > 0) bytes[Math.floor(bytes.length * 0.6)] ^= 0x11
    writeFileSync(path, bytes)
  },
  emptied: (path) => writeFileSync(path, ''),
  deleted: (path) => rmSync(path),
  'replaced by a folder'(path) {
    rmSync(path)
    mkdirSync(path)
  },
}

export const damage: AttackPart = {
  name: 'damage',
  about: 'each file of a stopped run is truncated, flipped, emptied, deleted and replaced by a folder',
  async run({ quick, folder, done, report, signal }) {
    const names = quick ? quickNames : kindNames
    const totals = { 'damaged files': 0, refused: 0, 'said, and went on': 0, 'the same bytes': 0 }
    for (const { held, happened } of done) {
      totals['damaged files']++
      const how = outcomes.find((each) => happened.startsWith(each))
      if (held && how !== undefined) totals[how]++
    }
    for (const name of names) {
      const kind = runKinds.find((each) => each.name === name)
      if (kind === undefined) throw new Error(`no kind of run is called ${name}`)
      const cwd = join(folder, name.replaceAll(/\W+/g, '-'))
      mkdirSync(cwd)
      await damageRun(kind, { cwd, totals, done, report, signal })
      rmSync(cwd, { recursive: true })
    }
    return totals
  },
}

interface Place extends Pick<AttackOptions, 'done' | 'report' | 'signal'> {
  cwd: string
  totals: Record<string, number>
}

async function damageRun(kind: RunKind, { cwd, totals, done, report, signal }: Place): Promise<void> {
  const [whole, stopped, prepared] = ['whole', 'stopped', 'prepared'].map((name) => join(cwd, name))
  const run = (args: readonly string[]): Promise<Ended> => runCli(args, { cwd, env, limitSeconds, signal })
  if (kind.prepare !== undefined) await run(kind.prepare(prepared))
  const began = performance.now()
  await run(kind.begin(whole, prepared))
  const milliseconds = performance.now() - began
  const expected = fingerprint(whole)
  await stopAfterTwoCheckpoints(kind, { cwd, stopped, prepared, milliseconds, signal })
  const nameOf = (file: string, way: string): string => `${kind.name}: ${file} ${way}`
  // Where an earlier call was stopped, the names of the checkpoints may differ by when the run was killed.
  const left = filesBeneath(stopped)
    .flatMap((file) => Object.keys(ways).map((way) => ({ file, way })))
    .filter(({ file, way }) => !done.some(({ name }) => name === nameOf(file, way)))
  const damageNext = async (copy: string): Promise<void> => {
    for (let next = left.shift(); next !== undefined; next = left.shift()) {
      const { file, way } = next
      cpSync(stopped, copy, { recursive: true })
      ways[way](join(copy, file))
      const ended = await run(kind.resume?.(copy, prepared) ?? ['train', '--resume', copy])
      signal.throwIfAborted()
      const result = judge(ended, { file, copy, expected })
      totals['damaged files']++
      if (result.held) totals[result.kind]++
      report({ name: nameOf(file, way), held: result.held, happened: result.happened })
      rmSync(copy, { recursive: true })
    }
  }
  const copies = Array.from({ length: availableParallelism() }, (_, index) => join(cwd, `copy-${index}`))
  await Promise.all(copies.map(damageNext))
}

/** Leaves a run that was killed late in its training, so that little is left to resume, and has a checkpoint before its newest. */
async function stopAfterTwoCheckpoints(
  kind: RunKind,
  place: { cwd: string; stopped: string; prepared: string; milliseconds: number; signal: AbortSignal },
): Promise<void> {
  const { cwd, stopped, prepared, milliseconds, signal } = place
  for (let share = 0.8; share > 0.1; share -= 0.1) {
    rmSync(stopped, { recursive: true, force: true })
    const moment = { after: 'training', milliseconds: share * milliseconds } as const
    const { killed } = await killAt(kind.begin(stopped, prepared), { cwd, env, out: stopped, moment, signal })
    if (killed && existsSync(join(stopped, 'state-before.json'))) return
  }
  throw new Error(`${kind.name} could not be stopped between two checkpoints`)
}

/** What may come of a damaged file. What happened begins with it. */
const outcomes = ['refused', 'said, and went on', 'the same bytes'] as const
type Judged = Pick<AttackResult, 'happened'> &
  ({ held: true; kind: (typeof outcomes)[number] } | { held: false })

function judge(
  { code, signal, overtime, stderr, stdout }: Ended,
  { file, copy, expected }: { file: string; copy: string; expected: ReadonlyMap<string, string> },
): Judged {
  const text = stdout + stderr
  if (overtime) return { held: false, happened: 'it did not end' }
  if (signal !== null || /^ +at .+:\d+:\d+/m.test(text))
    return { held: false, happened: `it crashed: ${text.slice(-200)}` }
  const names = text.includes(join(copy, file)) || text.includes(basename(file))
  if (code !== 0) {
    const [, error = text.slice(-200)] = /^error: (.*)$/m.exec(text) ?? []
    const happened = error.replaceAll(copy, 'RUN')
    return names
      ? { held: true, kind: 'refused', happened: `refused: ${happened}` }
      : { held: false, happened: `it does not name the file: ${happened}` }
  }
  const said = text.split('\n').find((line) => /is damaged|is missing|begins anew/.test(line))
  if (said !== undefined)
    return {
      held: true,
      kind: 'said, and went on',
      happened: `said, and went on: ${said.replaceAll(copy, 'RUN')}`,
    }
  const different = firstDifference(expected, fingerprint(copy))
  return different === undefined
    ? { held: true, kind: 'the same bytes', happened: 'the same bytes as without the damage' }
    : { held: false, happened: `another result without a word: ${different} differs` }
}

/** But for the note of the process that works on the run, which the next one replaces. */
function filesBeneath(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name !== 'running.json')
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort()
}
