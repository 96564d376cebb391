import { AgogeError } from '../error.ts'
import { isWorldFile } from '../training/arrays/world-file.ts'
import { arrayWorlds } from '../worlds/array-worlds.ts'
import { dashed, refuseChanges } from './resumed-options.ts'
import { runKind, runToResume } from './runs.ts'

/** Whether the world's tasks are told in words: such a world is for language models. */
const isToldInWords = (world: string): boolean =>
  ['filesystem', 'reasoning', 'adventure'].includes(world) || world.startsWith('mcp:')

/** Whether the command is about a world over arrays of numbers. */
function isArrayCommand(world: string, resume?: string | true): boolean {
  if (resume === undefined) return !isToldInWords(world)
  const folder = runToResume(resume)
  return folder !== undefined && ['array', 'seeds'].includes(runKind(folder) ?? '')
}

/**
 * Whether the command is one of the array lane; checks its options and the name of its world first.
 *
 * @param typed what stands on the command line, without defaults.
 * @param own options of this command that mean nothing in the array lane.
 * @param named the world, where one stands on the command line.
 * @throws AgogeError naming options that mean nothing there, or listing the worlds of all kinds.
 */
export async function takesArrayLane(
  world: string,
  typed: object,
  {
    resume,
    own = [],
    named,
  }: { resume?: string | true | undefined; own?: readonly string[]; named?: string | undefined } = {},
): Promise<boolean> {
  const isArray = isArrayCommand(world, resume)
  if (isArray && resume !== undefined) refuseChanges(runToResume(resume) ?? '', { typed, world: named })
  else if (isArray) await requireArrayWorld(world)
  const foreign = isArray ? [...languageOptions, ...own] : arrayOptions
  refuseOptions(resume === undefined ? world : 'this run', typed, foreign)
  return isArray
}

/** Modules are read later. @throws AgogeError listing the worlds over arrays, or those of all kinds where the name is of none. */
export async function requireArrayWorld(name: string): Promise<void> {
  if (Object.hasOwn(arrayWorlds, name) || isWorldFile(name)) return
  if (isToldInWords(name)) {
    throw new AgogeError(`${name} has tasks told in words, not arrays of numbers`, {
      code: 'unknown-world',
      given: name,
      expected: `one of ${Object.keys(arrayWorlds).join(', ')}`,
      hint: `To watch a model there: agoge chat ${name}`,
    })
  }
  const { unknownWorld } = await import('./open-world.ts')
  throw unknownWorld({ world: name }, Object.keys(arrayWorlds))
}

/** Options that mean nothing for the world are refused, not silently left out. */
function refuseOptions(world: string, given: object, names: readonly string[]): void {
  const options = given as Readonly<Record<string, unknown>>
  const wrong = names.filter((name) => options[name] !== undefined)
  if (wrong.length === 0) return
  const typed = wrong.map(dashed)
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
  'task',
  'difficulty',
  'yes',
  'tasks',
  'compareSupervised',
  'quick',
  'fromScratch',
  'temperature',
  'samplingWeights',
  'apiKeyEnv',
  'timeout',
  'threshold',
] as const
const arrayOptions = [
  'preset',
  'body',
  'bonus',
  'seeds',
  'slots',
  'episodes',
  'vary',
  'visible',
  'context',
  'set',
] as const
