import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { AgogeError, closestName } from 'agoge'
import type { Paper, PaperResult } from '../runner/paper.ts'

/** From source, papers and everything else are TypeScript. */
const built = import.meta.url.endsWith('.js')
const ending = built ? '.js' : '.ts'
const here = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

export const papersFolder = here('../papers/')

/** The worker module of `runPaper`, and the arguments of Node. */
export const paperWorker = {
  worker: here(`../runner/worker${ending}`),
  execArgv: built ? [] : ['--import', 'tsx', '--conditions', 'agoge-source'],
}

/** The papers by id, which is the file name. Loads none of them. */
export function paperIds(folder = papersFolder): string[] {
  const names = existsSync(folder) ? readdirSync(folder) : []
  return names
    .filter((name) => name.endsWith(ending) && !name.endsWith(`.test${ending}`))
    .map((name) => name.slice(0, -ending.length))
    .sort()
}

/**
 * Loads one paper and no other.
 *
 * @throws AgogeError for an unknown id, and naming the file if it cannot be loaded or contains another paper.
 */
export async function loadPaper(id: string, folder = papersFolder): Promise<{ file: string; paper: Paper }> {
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

/** Folder of the results: beside the papers in the repository, otherwise with the runs. */
export const resultsFolder = (): string =>
  existsSync(join('research', 'papers', 'results'))
    ? join('research', 'papers', 'results')
    : join('.agoge', 'papers')

/** Result of the last full run; undefined if there was none. */
export function resultOf(id: string): PaperResult | undefined {
  const file = join(resultsFolder(), `${id}.json`)
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as PaperResult) : undefined
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
