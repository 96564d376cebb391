import { createHash } from 'node:crypto'
import {
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type * as HubModule from '@huggingface/hub'
import type { ListFileEntry } from '@huggingface/hub'
import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import { checksumsFile, writeChecksums } from '../../runs/checksums.ts'

/** Settings of `downloadModel`. */
export interface DownloadOptions {
  /** Default: the environment variable `HF_ENDPOINT`, else `https://huggingface.co`. */
  hubUrl?: string
  /** Default: `AGOGE_MODELS`, else `.cache/agoge/models` in the folder of the user. */
  cache?: string
  /** A branch, a tag or a commit. Default: `main`. */
  revision?: string
  /** False leaves the weights out, for a model on a server. Default: true. */
  weights?: boolean
  /** Further attempts of a file that broke off. Each goes on where the one before ended. Default: 4. */
  retries?: number
  onNote?: (text: string) => void
  signal?: AbortSignal
}

/** Whether a text looks like the name of a model on a hub: `OWNER/NAME`. */
export const isHubName = (text: string): boolean => /^[\w][\w.-]*\/[\w][\w.-]*$/.test(text)

/** What a folder of a model has, in Agoge as in transformers. Weights may be split. */
const texts =
  /^(?:config|generation_config|tokenizer|tokenizer_config|special_tokens_map|added_tokens|vocab)\.json$|^chat_template\.(?:jinja|json)$|^merges\.txt$/
const weightFiles = /^model(?:-\d{5}-of-\d{5})?\.safetensors$|^model\.safetensors\.index\.json$/
const needed = [
  'config.json',
  'tokenizer.json',
  'tokenizer_config.json',
  'model.safetensors (or its parts and their index)',
]

/**
 * Downloads a model from a hub into the cache, or finds it there. A download that was stopped goes on where it ended. Each file is compared
 * with the checksum that the hub lists; afterwards no network is needed. A key comes from the environment variable `HF_TOKEN`.
 *
 * @returns the folder of the model.
 * @throws AgogeError `hub-unreachable` if it cannot be reached, with the files to put where; `bad-checkpoint` if a file differs from its
 *   checksum; `unknown-model` if there is no such model; `missing-package` if `@huggingface/hub` is not installed.
 * @example const folder = await downloadModel('Qwen/Qwen3-0.6B')
 */
export async function downloadModel(name: string, options: DownloadOptions = {}): Promise<string> {
  const {
    cache = process.env['AGOGE_MODELS'] ?? join(homedir(), '.cache', 'agoge', 'models'),
    weights = true,
  } = options
  const { revision = 'main', signal } = options
  const folder = join(
    cache,
    `${name.replace('/', '--')}${revision === 'main' ? '' : `@${revision.replaceAll('/', '--')}`}`,
  )
  const place = weights ? folder : join(folder, 'tokenizer')
  const begun = join(place, 'download.partial')
  // The list is written when all files are there. Files that somebody put there have none.
  if (existsSync(join(place, checksumsFile))) return place
  if (
    !existsSync(begun) &&
    existsSync(join(place, 'config.json')) &&
    existsSync(join(place, 'tokenizer.json')) &&
    (!weights || hasAnyWeights(place))
  )
    return place
  mkdirSync(place, { recursive: true })
  const hub = await loadHub()
  const request = {
    repo: name,
    revision,
    fetch: (input: Parameters<typeof fetch>[0], init?: RequestInit) =>
      fetch(input, { ...init, ...defined({ signal }) }),
    hubUrl: options.hubUrl ?? process.env['HF_ENDPOINT'] ?? hub.HUB_URL,
    ...defined({ accessToken: process.env['HF_TOKEN'] }),
  }
  const unreachable = (cause: unknown): AgogeError => notDownloaded(name, place, request.hubUrl, cause)
  const files = await withRetries(
    options,
    () => list(hub, request, weights),
    (cause) => failureOf(name, cause) ?? unreachable(cause),
  )
  writeFileSync(begun, '')
  for (const file of files) {
    options.onNote?.(`${name}: ${file.path}, ${(file.size / 1e6).toFixed(1)} MB`)
    await withRetries(
      options,
      () => download(hub, request, file, place),
      (cause) => failureOf(name, cause) ?? unreachable(cause),
    )
  }
  rmSync(begun)
  await writeChecksums(place)
  return place
}

const hasAnyWeights = (folder: string): boolean =>
  ['model.safetensors', 'model.safetensors.index.json'].some((file) => existsSync(join(folder, file)))

type Hub = Pick<typeof HubModule, 'HUB_URL' | 'listFiles' | 'downloadFile'>

async function loadHub(): Promise<Hub> {
  try {
    return await import('@huggingface/hub')
  } catch (cause) {
    throw new AgogeError('models of a hub need the package @huggingface/hub', {
      code: 'missing-package',
      expected: 'npm i @huggingface/hub',
      hint: 'Or download the model yourself, and name its folder',
      cause,
    })
  }
}

interface Request {
  repo: string
  revision: string
  hubUrl: string
  fetch: typeof fetch
  accessToken?: string
}

async function list(hub: Hub, request: Request, weights: boolean): Promise<ListFileEntry[]> {
  const files: ListFileEntry[] = []
  for await (const file of hub.listFiles(request)) {
    const isWanted = texts.test(file.path) || (weights && weightFiles.test(file.path))
    if (file.type === 'file' && isWanted && Number.isSafeInteger(file.size)) files.push(file)
  }
  if (['config.json', 'tokenizer.json'].every((wanted) => files.some(({ path }) => path === wanted))) {
    const isWhole = files.some(({ path }) => path.endsWith('.safetensors'))
    if (isWhole || !weights) return files
  }
  throw new AgogeError(`${request.repo} is not a model that can be trained here`, {
    code: 'unknown-model',
    given: files.map(({ path }) => path).join(', ') || 'none of the files',
    expected: needed.join(', '),
  })
}

/** Fetches what is missing of a file, and puts it in its place if its checksum is right. */
async function download(hub: Hub, request: Request, file: ListFileEntry, folder: string): Promise<void> {
  const target = join(folder, file.path)
  if (existsSync(target)) return
  const partial = `${target}.partial`
  const have = existsSync(partial) ? statSync(partial).size : 0
  if (have < file.size) {
    const blob = await hub.downloadFile({ ...request, path: file.path })
    if (blob === null) throw new Error(`there is no ${file.path}`)
    const rest = have === 0 ? blob : blob.slice(have, file.size)
    await pipeline(
      Readable.fromWeb(rest.stream()),
      createWriteStream(partial, { flags: have === 0 ? 'w' : 'a' }),
    )
  }
  const { size } = statSync(partial)
  if (size < file.size) throw new Error(`${file.path} ended after ${size} of ${file.size} bytes`)
  const { kind, expected, given } = await compare(partial, file)
  if (given === expected) return renameSync(partial, target)
  rmSync(partial)
  throw new AgogeError(`${file.path} of ${request.repo} is damaged`, {
    code: 'bad-checkpoint',
    given: `${kind} ${given}`,
    expected: `${kind} ${expected}`,
    hint: 'Try again: the file is downloaded anew',
  })
}

/** Large files are listed with their SHA-256, others with the SHA-1 that Git gives them. */
async function compare(
  path: string,
  { lfs, oid, size }: ListFileEntry,
): Promise<{ kind: string; expected: string; given: string }> {
  const hash = lfs === undefined ? createHash('sha1').update(`blob ${size}\0`) : createHash('sha256')
  await pipeline(createReadStream(path), hash)
  return {
    kind: lfs === undefined ? 'git sha-1' : 'sha-256',
    expected: lfs?.oid ?? oid ?? 'none, so it cannot be checked',
    given: hash.digest('hex'),
  }
}

async function withRetries<T>(
  { retries = 4, signal }: DownloadOptions,
  work: () => Promise<T>,
  asError: (cause: unknown) => AgogeError,
): Promise<T> {
  for (let tried = 0; ; tried += 1)
    try {
      return await work()
    } catch (cause) {
      signal?.throwIfAborted()
      if (AgogeError.isInstance(cause)) throw cause
      const lasting = typeof statusOf(cause) === 'number' && statusOf(cause)! < 500 && statusOf(cause) !== 429
      if (lasting || tried >= retries) throw asError(cause)
      await sleep(500 * 2 ** tried, undefined, { ...defined({ signal }) })
    }
}

const statusOf = (cause: unknown): number | undefined =>
  typeof cause === 'object' && cause !== null && 'statusCode' in cause && typeof cause.statusCode === 'number'
    ? cause.statusCode
    : undefined

/** What the hub said, where it answered. */
function failureOf(name: string, cause: unknown): AgogeError | undefined {
  const status = statusOf(cause)
  if (status !== 401 && status !== 403 && status !== 404) return undefined
  return new AgogeError(`the hub has no ${name} for you`, {
    code: 'unknown-model',
    given: `HTTP status ${status}`,
    expected: 'the name of a public model, or one that the key in HF_TOKEN may read',
    cause,
  })
}

function notDownloaded(name: string, folder: string, hubUrl: string, cause: unknown): AgogeError {
  return new AgogeError(`${name} cannot be downloaded from ${hubUrl}`, {
    code: 'hub-unreachable',
    given: reasonOf(cause),
    expected: `a connection, or these files in ${folder}: ${needed.join(', ')}, and chat_template.jinja if the model has one`,
    hint: 'They are on the page of the model; or name another folder that has them',
    cause,
  })
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause)
  return cause.cause instanceof Error ? `${cause.message}: ${cause.cause.message}` : cause.message
}
