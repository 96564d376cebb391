// npm run attack -- limits: a full disk, a folder that cannot be written, few files, little memory, two writers, a clock that jumps. Each must end
// with a sentence that says what to do, and a run must go on afterwards to the same bytes.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AttackPart, AttackResult } from '../attack.ts'
import { fingerprint, firstDifference } from '../kills/fingerprint.ts'
import { agoge, type Output, system } from './shell.ts'

/** An attack in a folder of its own. Returns what happened, or what was broken. */
interface LimitAttack {
  name: string
  /** Needs to mount a file system, as only root can on most machines. */
  mounts?: boolean
  run(folder: string): Promise<{ broken?: string; happened: string }>
}

export const limits: AttackPart = {
  name: 'limits',
  about: 'a full disk, read-only folders, few open files, little memory, two writers, a clock that jumps',
  async run({ folder, done, report, signal }) {
    const isRoot = process.getuid?.() === 0
    let tried = 0
    for (const [at, attack] of attacks.entries()) {
      signal.throwIfAborted()
      if (attack.mounts === true && !isRoot) continue
      tried++
      if (done.some(({ name }) => name === attack.name)) continue
      const place = join(folder, String(at))
      mkdirSync(place)
      report(await outcomeOf(attack, place))
    }
    return { attacks: tried, 'left out without root': attacks.length - tried }
  },
}

async function outcomeOf(attack: LimitAttack, place: string): Promise<AttackResult> {
  const { broken, happened } = await attack.run(place)
  return { name: attack.name, held: broken === undefined, happened: broken ?? happened }
}

const cartpole = (out: string): string[] =>
  'train cartpole --algorithm ppo --steps 20000 --seed 3 --out'.split(' ').concat(out)

/** What a run leaves that meets no limit. */
async function undisturbed(folder: string): Promise<ReadonlyMap<string, string>> {
  const whole = join(folder, 'whole')
  const { code, text } = await agoge(cartpole(whole), { cwd: folder })
  const left = code === 0 ? fingerprint(whole) : new Map<string, string>()
  if (left.size === 0) throw new Error(`a run without a limit left nothing to compare: ${text.slice(-300)}`)
  return left
}

/** Whether a command ended with one error of Agoge that says what to do. Returns what is wrong with it. */
function sentenceProblem({ code, signal, text }: Output, says: RegExp): string | undefined {
  if (signal !== null) return `it ended by ${signal}: ${text.slice(-200)}`
  if (code !== 1) return `it ended with ${code}: ${text.slice(-200)}`
  if (/^ +at .+:\d+:\d+/m.test(text)) return `it ended with a stack trace: ${text.slice(-300)}`
  // "Run it with --debug" is no remedy.
  if (!/^error: /m.test(text) || !/^ +hint: (?!.*--debug)/m.test(text))
    return `it does not say what to do: ${text.slice(-300)}`
  return says.test(text) ? undefined : `it does not say ${says.source}: ${text.slice(-300)}`
}

const errorOf = (text: string): string => /^error: (.*)$/m.exec(text)?.[1] ?? text.trim().slice(-160)

/** Runs into a limit, lifts it, resumes, and compares with a run without it. */
async function limitedRun(
  folder: string,
  {
    out,
    limited,
    says,
    lift,
  }: { out: string; limited: () => Promise<Output>; says: RegExp; lift: () => Promise<unknown> },
): Promise<{ broken?: string; happened: string }> {
  const expected = await undisturbed(folder)
  const first = await limited()
  const happened = errorOf(first.text)
  const problem = sentenceProblem(first, says)
  if (problem !== undefined) return { broken: problem, happened }
  await lift()
  const again = existsSync(join(out, 'config.json')) ? ['train', '--resume', out] : cartpole(out)
  const second = await agoge(again, { cwd: folder })
  if (second.code !== 0)
    return { broken: `afterwards it ends with ${second.code}: ${second.text.slice(-200)}`, happened }
  const different = firstDifference(expected, fingerprint(out))
  return different === undefined ? { happened } : { broken: `afterwards ${different} differs`, happened }
}

/** Runs something on a small file system of its own. */
async function onSmallDisk<T>(folder: string, size: string, work: (disk: string) => Promise<T>): Promise<T> {
  const disk = join(folder, 'disk')
  mkdirSync(disk)
  await system('mount', '-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', disk)
  try {
    return await work(disk)
  } finally {
    await system('umount', disk)
  }
}

const fullDisk = (size: string): LimitAttack => ({
  name: `a disk of ${size} that a classic run fills`,
  mounts: true,
  run: (folder) =>
    onSmallDisk(folder, size, (disk) =>
      limitedRun(folder, {
        out: join(disk, 'run'),
        limited: () => agoge(cartpole(join(disk, 'run')), { cwd: folder }),
        says: /the disk is full|no space/i,
        lift: () => system('mount', '-o', 'remount,size=64m', disk),
      }),
    ),
})

const attacks: readonly LimitAttack[] = [
  fullDisk('16k'),
  fullDisk('64k'),
  fullDisk('160k'),
  {
    name: 'a disk that is full when a language model is to be saved',
    mounts: true,
    run: (folder) =>
      onSmallDisk(folder, '3m', async (disk) => {
        const out = join(disk, 'run')
        const output = await agoge(
          ['train', 'filesystem', '--quick', '--steps', '1', '--tasks', '4', '--out', out],
          {
            cwd: folder,
          },
        )
        const broken = sentenceProblem(output, /the disk is full/)
        return { ...(broken === undefined ? {} : { broken }), happened: errorOf(output.text) }
      }),
  },
  {
    name: 'a disk that becomes read-only',
    mounts: true,
    run: (folder) =>
      onSmallDisk(folder, '64m', (disk) => {
        const out = join(disk, 'run')
        const readOnly = (): Promise<Output> => agoge(cartpole(out), { cwd: folder })
        return limitedRun(folder, {
          out,
          async limited() {
            await system('mount', '-o', 'remount,ro', disk)
            return readOnly()
          },
          says: /read-only/,
          lift: () => system('mount', '-o', 'remount,rw', disk),
        })
      }),
  },
  ...[24, 60].map((files): LimitAttack => ({
    name: `${files} open files`,
    async run(folder) {
      const out = join(folder, 'run')
      const output = await agoge(cartpole(out), { cwd: folder, before: `ulimit -n ${files}` })
      if (output.code === 0) return { happened: 'it needs no more' }
      const broken = sentenceProblem(output, /too few files|too many files open/)
      return { ...(broken === undefined ? {} : { broken }), happened: errorOf(output.text) }
    },
  })),
  ...['filesystem', 'cartpole'].map((environment): LimitAttack => ({
    name: `little memory (ulimit -v) for ${environment}`,
    async run(folder) {
      const args =
        environment === 'cartpole' ? cartpole('run') : ['train', environment, '--quick', '--out', 'run']
      const output = await agoge(args, { cwd: folder, before: 'ulimit -v 3000000' })
      if (output.code === 0) return { happened: 'it needs no more' }
      const broken = sentenceProblem(output, /memory/)
      return { ...(broken === undefined ? {} : { broken }), happened: errorOf(output.text) }
    },
  })),
  {
    name: 'two processes that write to one run',
    async run(folder) {
      const out = join(folder, 'run')
      const expected = await undisturbed(folder)
      const [one, two] = await Promise.all([
        agoge(cartpole(out), { cwd: folder }),
        agoge(cartpole(out), { cwd: folder, before: 'sleep 0.4' }),
      ])
      const [winner, loser] = one.code === 0 ? [one, two] : [two, one]
      const happened = errorOf(loser.text)
      if (winner.code !== 0) return { broken: `both ended with an error: ${happened}`, happened }
      const problem = sentenceProblem(loser, /already holds a run|another process|is writing/)
      if (problem !== undefined) return { broken: problem, happened }
      const different = firstDifference(expected, fingerprint(out))
      return different === undefined ? { happened } : { broken: `${different} differs`, happened }
    },
  },
  ...['+400d', '-400d'].map((jump): LimitAttack => ({
    name: `a clock that jumps by ${jump} during a run`,
    async run(folder) {
      const [out, clock] = ['run', 'clock'].map((name) => join(folder, name))
      const library = await findFaketime()
      if (library === undefined) return { happened: 'not tried: libfaketime is not installed' }
      writeFileSync(clock, '+0d')
      const expected = await undisturbed(folder)
      const before = [
        `export LD_PRELOAD=${library} FAKETIME_TIMESTAMP_FILE=${clock} FAKETIME_CACHE_DURATION=1 FAKETIME_NO_CACHE=1`,
        `(sleep 1.5; echo '${jump}' > ${clock}) &`,
      ].join('\n')
      const output = await agoge(cartpole(out), { cwd: folder, before })
      const happened = 'it ended as without the jump'
      if (output.code !== 0)
        return { broken: `it ended with ${output.code}: ${output.text.slice(-200)}`, happened }
      const different = firstDifference(expected, fingerprint(out))
      return different === undefined ? { happened } : { broken: `${different} differs`, happened }
    },
  })),
]

async function findFaketime(): Promise<string | undefined> {
  const found = await system('find', '/usr/lib', '-name', 'libfaketimeMT.so.1').catch(() => '')
  const [first] = found.split('\n')
  return first === '' ? undefined : first
}
