import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { AgogeError } from '../error.ts'
import { arrayWorlds } from '../worlds/array-worlds.ts'
import { listRuns } from './runs.ts'

/** Whether the command is about a world over arrays of numbers: not `filesystem`, no server. */
function isArrayCommand(world: string, resume?: string | true): boolean {
  if (resume === undefined) return world !== 'filesystem' && !world.startsWith('mcp:')
  const folder = resume === true ? listRuns()[0] : resume
  return folder !== undefined && ['array', 'seeds'].includes(runKind(folder) ?? '')
}

/** What `config.json` of a run folder says that it is; undefined where it says nothing or cannot be read. */
export function runKind(folder: string): string | undefined {
  const file = join(folder, 'config.json')
  if (!existsSync(file)) return undefined
  try {
    const config = JSON.parse(readFileSync(file, 'utf8')) as { kind?: unknown }
    return typeof config.kind === 'string' ? config.kind : undefined
  } catch {
    // Whoever reads it for its contents says what is wrong with it.
    return undefined
  }
}

/**
 * Whether the command is one of the array lane; checks its options and the name of its world first.
 *
 * @param typed what stands on the command line, without defaults.
 * @throws AgogeError naming options that mean nothing there, or listing the worlds of all kinds.
 */
export async function takesArrayLane(world: string, typed: object, resume?: string | true): Promise<boolean> {
  const isArray = isArrayCommand(world, resume)
  if (isArray && resume === undefined) await requireArrayWorld(world)
  refuseOptions(resume === undefined ? world : 'this run', typed, isArray ? languageOptions : arrayOptions)
  return isArray
}

/** @throws AgogeError listing the worlds of all kinds. */
export async function requireArrayWorld(name: string): Promise<void> {
  if (Object.hasOwn(arrayWorlds, name)) return
  const { unknownWorld } = await import('./open-world.ts')
  throw unknownWorld({ world: name }, Object.keys(arrayWorlds))
}

/** Options that mean nothing for the world are refused, not silently left out. */
function refuseOptions(world: string, given: object, names: readonly string[]): void {
  const options = given as Readonly<Record<string, unknown>>
  const wrong = names.filter((name) => options[name] !== undefined)
  if (wrong.length === 0) return
  const typed = wrong.map((name) => `--${name.replaceAll(/[A-Z]/g, (c) => `-${c.toLowerCase()}`)}`)
  throw new AgogeError(`${typed.join(', ')} means nothing for ${world}`, {
    code: 'bad-option',
    given: typed.join(' '),
    expected: 'options of this kind of world',
    hint: 'agoge envs lists the worlds over arrays of numbers; the others have tasks and tools',
  })
}

/** Options of the language lane alone, and of the array lane alone. */
const languageOptions = [
  'mcpConfig',
  'sandbox',
  'allow',
  'maxCalls',
  'callsPerSecond',
  'yes',
  'tasks',
  'compareSupervised',
  'quick',
  'fromScratch',
  'temperature',
  'apiKeyEnv',
  'timeout',
  'threshold',
] as const
const arrayOptions = ['algorithm', 'preset', 'seeds', 'slots', 'episodes'] as const
