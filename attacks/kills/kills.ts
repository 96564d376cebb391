// npm run attack -- kills: runs of every kind are killed again and again, resumed, and compared with one that was left alone.
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { createRandom, type Random } from '../../src/engine/random/index.ts'
import type { AttackOptions, AttackPart, AttackResult } from '../attack.ts'
import { runCli } from '../run-cli.ts'
import { fingerprint, firstDifference } from './fingerprint.ts'
import { type RunKind, runKinds } from './kinds.ts'
import { killAt, type Moment } from './victim.ts'

/** Kills of a kind in the quick share. */
const quickKills = 4
/** Seconds that an undisturbed run may take on a busy machine. */
const limitSeconds = 900
/** One thread each, because a run of another kind takes place beside it. */
const env = { AGOGE_THREADS: '1' }

export const kills: AttackPart = {
  name: 'kills',
  about:
    'runs of every kind are killed (kill -9) at random moments, resumed, and must end with the same bytes',
  async run({ seed, quick, folder, done, report, signal }) {
    const kinds = quick ? runKinds.filter((kind) => kind.quick === true) : runKinds
    const totals = { kills: 0, 'kills after training began': 0, kinds: kinds.length }
    const left = [...kinds]
    const attackNext = async (): Promise<void> => {
      for (let kind = left.shift(); kind !== undefined; kind = left.shift()) {
        const { name } = kind
        const earlier = done.find((result) => result.name === name)
        const result = earlier ?? (await attackKind(kind, { seed, quick, folder, signal }))
        signal.throwIfAborted()
        // The numbers of an earlier call are in its sentence.
        const [count = 0, trained = 0] = (
          /^killed (\d+) times, (\d+) /.exec(result.happened)?.slice(1) ?? []
        ).map(Number)
        totals.kills += count
        totals['kills after training began'] += trained
        if (earlier === undefined) report(result)
      }
    }
    // Each kind draws its own moments, so they do not depend on what else runs.
    await Promise.all(Array.from({ length: availableParallelism() }, attackNext))
    return totals
  },
}

interface Chain {
  kind: RunKind
  out: string
  prepared: string
  cwd: string
  random: Random
  signal: AbortSignal
}

async function attackKind(
  kind: RunKind,
  { seed, quick, folder, signal }: Pick<AttackOptions, 'seed' | 'quick' | 'folder' | 'signal'>,
): Promise<AttackResult> {
  const cwd = join(folder, kind.name.replaceAll(/\W+/g, '-'))
  const [whole, out, prepared] = ['whole', 'killed', 'prepared'].map((name) => join(cwd, name))
  mkdirSync(whole, { recursive: true })
  const random = createRandom(seed, 'kills', kind.name)
  const fail = (happened: string): AttackResult => ({ name: kind.name, held: false, happened })
  try {
    if (kind.prepare !== undefined) {
      const made = await runCli(kind.prepare(prepared), { cwd, env, limitSeconds, signal })
      if (made.code !== 0) return fail(`what it needs could not be made: ${made.stderr.slice(-300)}`)
    }
    const began = performance.now()
    const left = await runCli(kind.begin(whole, prepared), { cwd, env, limitSeconds, signal })
    if (left.code !== 0) return fail(`it ends with ${left.code} by itself: ${left.stderr.slice(-300)}`)
    const milliseconds = performance.now() - began
    const expected = fingerprint(whole, kind.output)
    if (expected.size === 0) return fail('it left nothing to compare')
    const wanted = quick ? quickKills : kind.kills
    const counts = { kills: 0, trained: 0, chains: 0 }
    while (counts.kills < wanted) {
      mkdirSync(out, { recursive: true })
      const chain = { kind, out, prepared, cwd, random, signal }
      const problem = await killAndResume(chain, { milliseconds, wanted, counts, expected })
      if (problem !== undefined) return fail(`${counted(counts)}: ${problem}`)
      rmSync(out, { recursive: true })
      if (++counts.chains > 3 * wanted) return fail(`${counted(counts)}: it is over too soon to be killed`)
    }
    const files = `${expected.size} ${expected.size === 1 ? 'file' : 'files'}`
    return { name: kind.name, held: true, happened: `${counted(counts)}: the same bytes in ${files}` }
  } finally {
    rmSync(cwd, { recursive: true, force: true })
  }
}

interface Counts {
  kills: number
  trained: number
  chains: number
}

const counted = ({ kills: count, trained }: Counts): string =>
  `killed ${count} times, ${trained} after training began`

/** Most kills of one run before it may end. */
const mostInChain = 8

/** Begins a run, kills and resumes it, and lets it end. Returns what went wrong. */
async function killAndResume(
  chain: Chain,
  {
    milliseconds,
    wanted,
    counts,
    expected,
  }: { milliseconds: number; wanted: number; counts: Counts; expected: ReadonlyMap<string, string> },
): Promise<string | undefined> {
  const { kind, out, prepared, cwd, random, signal } = chain
  const again = kind.resume?.(out, prepared) ?? ['train', '--resume', out]
  let args = kind.begin(out, prepared)
  for (let kill = 0; kill < mostInChain && counts.kills < wanted; kill++) {
    const { killed, trained, code, stderr } = await killAt(args, {
      cwd,
      env,
      out,
      ...(kind.progress === undefined ? {} : { progress: kind.progress }),
      moment: kind.output === undefined ? drawMoment(random, milliseconds) : anyMoment(random, milliseconds),
      signal,
    })
    signal.throwIfAborted()
    if (killed) {
      counts.kills++
      if (trained) counts.trained++
    } else if (code !== 0) return `it ended with ${code} when it was resumed: ${stderr.slice(-300)}`
    // Before a run has its settings there is nothing to resume; one that has ended says so when it is resumed.
    args = existsSync(join(out, kind.progress ?? 'config.json')) ? again : kind.begin(out, prepared)
    if (!killed) break
  }
  const ended = await runCli(args, { cwd, env, limitSeconds, signal })
  if (ended.code !== 0) return `it ended with ${ended.code} when it was resumed: ${ended.stderr.slice(-300)}`
  const different = firstDifference(expected, fingerprint(out, kind.output))
  return different === undefined ? undefined : `another result without a word: ${different} differs`
}

/** A moment of a run that writes no metrics. */
function anyMoment(random: Random, milliseconds: number): Moment {
  return { after: 'start', milliseconds: random.next() * milliseconds }
}

/** Most moments lie after training began, anywhere in the rest of the run; some in what comes before. */
function drawMoment(random: Random, milliseconds: number): Moment {
  if (random.next() < 0.12) return { after: 'start', milliseconds: random.next() * 2500 }
  return { after: 'training', milliseconds: (random.next() * milliseconds) / 3 }
}
