import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { AgogeError, closestName } from 'agoge'
import type { Paper } from '../runner/paper.ts'
import { hashText, type Plan } from '../runner/plan.ts'
import { outOfDate, type PaperResult } from '../runner/result.ts'

/** From source, papers and everything else are TypeScript. */
const built = import.meta.url.endsWith('.js')
const ending = built ? '.js' : '.ts'
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

const papersFolder = here('../papers/')

/** The worker module of `runPaper`, and the arguments of Node. */
export const paperWorker = {
  worker: here(`../runner/worker${ending}`),
  execArgv: built ? [] : ['--import', sourceLoader(), '--conditions', 'agoge-source'],
}

/** By its address, since the command may run in another folder. */
function sourceLoader(): string {
  return pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href
}

/** The papers by id, which is the file name. Loads none of them. */
export function paperIds(folder = papersFolder): string[] {
  const names = existsSync(folder) ? readdirSync(folder) : []
  return names
    .filter((name) => name.endsWith(ending) && !name.endsWith(`.test${ending}`))
    .map((name) => name.slice(0, -ending.length))
    .sort()
}

/** A paper and its module. */
export interface PlacedPaper {
  paper: Paper
  file: string
}

/**
 * Loads one paper and no other.
 *
 * @throws AgogeError for an unknown id, and naming the file if it cannot be loaded or contains another paper.
 */
export async function loadPaper(id: string, folder = papersFolder): Promise<PlacedPaper> {
  const ids = paperIds(folder)
  if (!ids.includes(id)) throw unknownPaper(id, ids)
  const file = join(folder, `${id}${ending}`)
  const loaded = await importPaper(file)
  if (loaded.default?.id === id) return { file, paper: loaded.default }
  throw new AgogeError(`${file} holds no paper named "${id}"`, {
    code: 'bad-paper',
    given: loaded.default?.id ?? 'no default export',
    expected: `export default definePaper({ id: '${id}', ... })`,
  })
}

async function importPaper(file: string): Promise<{ default?: Paper }> {
  try {
    return (await import(/* @vite-ignore */ pathToFileURL(file).href)) as { default?: Paper }
  } catch (cause) {
    throw new AgogeError(`${file} cannot be loaded`, {
      code: 'bad-paper',
      given: cause instanceof Error ? `${cause.name}: ${cause.message}` : String(cause),
      expected: 'a module whose default export is a paper',
      hint: 'The other papers run nevertheless',
      cause,
    })
  }
}

function unknownPaper(id: string, ids: readonly string[]): AgogeError {
  const meant = closestName(id, ids)
  return new AgogeError(`There is no paper named "${id}".`, {
    code: 'unknown-paper',
    given: id,
    expected: ids.length === 0 ? 'papers beside the built program' : `one of ${ids.join(', ')}`,
    ...(meant === undefined ? {} : { hint: `Did you mean "${meant}"?` }),
  })
}

/** Folder of plans and results: beside the papers in the repository, otherwise with the runs. */
const recordsFolder = (): string =>
  existsSync(join('research', 'papers')) ? join('research', 'papers') : join('.agoge', 'papers')

export const planFile = (id: string): string => join(recordsFolder(), 'plans', `${id}.json`)
export const resultFile = (id: string): string => join(recordsFolder(), 'results', `${id}.json`)
export const galleryFile = (): string => join(recordsFolder(), 'gallery.html')

/** The plan of a paper; undefined if there is none. */
export const planOf = (id: string): Plan | undefined => readJson(planFile(id)) as Plan | undefined

/** The last result of a paper; undefined if there is none, or only one of the rule before plans. */
export function resultOf(id: string): PaperResult | undefined {
  const result = readJson(resultFile(id)) as PaperResult | undefined
  return result?.schema === 2 ? result : undefined
}

function readJson(file: string): unknown {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as unknown) : undefined
}

/** Where a paper stands. */
export interface PaperState {
  plan: Plan | undefined
  /** The result, if it counts under the plan. */
  result: PaperResult | undefined
  /** The verdict, or `not planned`, `planned`, or `out of date` and why. */
  text: string
}

/** Where a paper stands: whether it has a plan, and a result of that plan. */
export function stateOf(id: string): PaperState {
  const [plan, result] = [planOf(id), resultOf(id)]
  if (plan === undefined) return { plan, result: undefined, text: 'not planned' }
  if (result === undefined) return { plan, result, text: 'planned' }
  const why = outOfDate(result, plan)
  return why === null
    ? { plan, result, text: result.verdict }
    : { plan, result: undefined, text: `out of date: ${why}` }
}

/** Sources lie in the repository; a program that was built of them runs in `dist`. */
const sourceOf = (file: string): string => {
  const source = here(`../../../research/papers/${basename(file).replace(/\.js$/, '.ts')}`)
  return built && dirname(resolve(file)) === resolve(papersFolder) && existsSync(source) ? source : file
}

/**
 * Hash of the module of a paper and of those beside it that it imports, apart from the runner. In a repository it is that of the
 * sources.
 *
 * @throws AgogeError if the program was built before the sources changed.
 */
export function moduleHash(file: string): string {
  const source = sourceOf(file)
  if (source !== file && statSync(source).mtimeMs > statSync(file).mtimeMs)
    throw new AgogeError(`${source} has changed since the program was built`, {
      code: 'stale-build',
      given: file,
      expected: 'a build of these sources',
      hint: 'npm run build',
    })
  return hashText([...withImports(resolve(source))].map((name) => readFileSync(name, 'utf8')).join('\n'))
}

function withImports(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file) || !existsSync(file)) return found
  found.add(file)
  for (const [, path] of readFileSync(file, 'utf8').matchAll(/from '(\.[^']+)'/g))
    if (!path.includes('/runner/')) withImports(resolve(dirname(file), path), found)
  return found
}

/** Whether git has a file as it is: `committed`, `uncommitted`, or `no repository`. */
export function gitState(file: string): 'committed' | 'uncommitted' | 'no repository' {
  const git = (...words: string[]): string =>
    execFileSync('git', words, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  try {
    git('rev-parse', '--git-dir')
  } catch {
    return 'no repository'
  }
  const known = git('ls-files', '--', file) !== ''
  return known && git('status', '--porcelain', '--', file) === '' ? 'committed' : 'uncommitted'
}
