import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** What is compared, in exact versions. No dependencies of the package: only these comparisons use them. */
const versions = {
  '@cfworker/json-schema': '4.1.6',
  '@exodus/schemasafe': '1.3.0',
  '@hyperjump/browser': '1.5.0',
  '@hyperjump/json-schema': '1.18.0',
  ajv: '8.20.0',
  'json-schema-library': '11.6.2',
  jsonrepair: '3.15.0',
  protobufjs: '8.8.1',
}

const folder = fileURLToPath(new URL('../../.agoge/libraries/', import.meta.url))

/** Installs the compared libraries into `.agoge/libraries`, which git ignores. No dependency of the package. */
export function installLibraries(): void {
  const manifest = JSON.stringify({ private: true, type: 'module', dependencies: versions })
  const place = join(folder, 'package.json')
  const isInstalled = existsSync(join(folder, 'node_modules'))
  if (isInstalled && existsSync(place) && readFileSync(place, 'utf8') === manifest) return
  mkdirSync(folder, { recursive: true })
  writeFileSync(place, manifest)
  // Imports from here resolve in this folder.
  writeFileSync(join(folder, 'load.mjs'), 'export const load = (name) => import(name)\n')
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error']
  execFileSync('npm', ['install', ...options], { cwd: folder, stdio: 'inherit' })
}

/** Imports a compared library. `Module` describes what is used of it. */
export async function loadLibrary<Module>(name: string): Promise<Module> {
  const { load } = (await import(join(folder, 'load.mjs'))) as { load: (name: string) => Promise<Module> }
  return await load(name)
}

/**
 * Runs `SCRIPT ARGUMENTS` in a process of its own, which prints one line. The limit is of processor time, so that it means the
 * same on a busy machine.
 *
 * @returns the line, or why there is none.
 */
export async function inProcess(script: string, given: readonly string[], seconds: number): Promise<string> {
  const flags = ['--import', 'tsx', '--conditions', 'agoge-source', script, ...given]
  const limited = `ulimit -t ${seconds}; exec "$0" "$@"`
  const child = spawn('sh', ['-c', limited, process.execPath, ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [printed, errors] = [child.stdout.toArray(), child.stderr.toArray()]
  const [, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  const line = (await printed).join('').trim()
  if (line !== '') return line
  if (signal === 'SIGKILL' || signal === 'SIGXCPU') return `no answer in ${seconds} s`
  const error = (await errors).join('')
  return `the process ended: ${/\w*Error.*|heap limit.*/.exec(error)?.[0] ?? error.slice(0, 80)}`
}

/** Prints the processor time of importing a module in a process of its own. `isOurs`: a dependency of the package. */
export function printLoading(name: string, isOurs: boolean): void {
  const cwd = isOurs ? fileURLToPath(new URL('../..', import.meta.url)) : folder
  const program = `const before = process.cpuUsage(); await import('${name}'); const { user, system } = process.cpuUsage(before); console.log((user + system) / 1e3)`
  const times = Array.from({ length: 5 }, () =>
    Number(execFileSync(process.execPath, ['--input-type=module', '-e', program], { cwd, encoding: 'utf8' })),
  )
  console.log(`loading ${name}: ${median(times).toFixed(0)} ms of processor time`)
}

/** Runs `work` and describes its result or what it threw, with the processor time that it took. */
export async function attempt(work: () => unknown): Promise<string> {
  const before = process.cpuUsage()
  const took = (): string => {
    const { user, system } = process.cpuUsage(before)
    return `${((user + system) / 1e6).toFixed(2)} s`
  }
  try {
    const result = String(await work())
    return `${result}, ${took()}`
  } catch (error) {
    return `throws ${String(error).split('\n')[0].slice(0, 80)}, ${took()}`
  }
}

export const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[values.length >> 1]

/** Processor milliseconds of `work`. */
async function processorTime(work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e3
}

/**
 * Runs both in turn and prints the medians of their processor time and of the ratio `peer / ours`. Above 1, ours is faster. A
 * ratio is of two neighbouring runs, so that other work on the machine changes it little.
 */
export async function alternate(
  name: string,
  runs: { ours: () => unknown; peer: () => unknown; peerName: string; rounds?: number },
): Promise<void> {
  const times: { ours: number; peer: number }[] = []
  for (let round = -3; round < (runs.rounds ?? 15); round++) {
    const [ours, peer] = [await processorTime(runs.ours), await processorTime(runs.peer)]
    // The first rounds compile.
    if (round >= 0) times.push({ ours, peer })
  }
  const ratios = times.map(({ ours, peer }) => peer / ours).toSorted((a, b) => a - b)
  const [ours, peer] = [median(times.map((each) => each.ours)), median(times.map((each) => each.peer))]
  const range = `${ratios[ratios.length >> 2].toFixed(2)} to ${ratios[(3 * ratios.length) >> 2].toFixed(2)}`
  console.log(
    `${name}: ours ${ours.toPrecision(3)} ms, ${runs.peerName} ${peer.toPrecision(3)} ms, ratio ${median(ratios).toFixed(2)} (${range})`,
  )
}

/** Uniform numbers from 0 to below 1 (mulberry32). */
export function numbersOf(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
