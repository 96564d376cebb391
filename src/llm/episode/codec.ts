import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import { deepestJson, nestingOf, parseForeignJson } from '../../untrusted/foreign-json.ts'
import { appendLines, readLines } from '../../runs/files.ts'
import { foreignTexts } from '../../untrusted/foreign-stream.ts'
import { currentTaskId } from './split.ts'
import type { Episode, EpisodeNode, EpisodeReward, EpisodeSample } from './types.ts'

/**
 * One episode as one line of JSON (schema 1), without the newline. Token ids are plain arrays, so that the file can be searched.
 * Log-probabilities and masks are base64 of their little-endian bytes, so that they are restored exactly.
 */
export function encodeEpisode(episode: Episode): string {
  return JSON.stringify({
    ...episode,
    nodes: episode.nodes.map((node) => ({ ...node, tokens: Array.from(node.tokens) })),
    samples: episode.samples.map((sample) => ({
      ...sample,
      logprobs: toBase64(sample.logprobs),
      mask: toBase64(sample.mask),
    })),
  })
}

/**
 * The inverse of `encodeEpisode`.
 *
 * @param where names the source in errors, e.g. `episodes.jsonl:12`.
 * @throws AgogeError naming the field that is missing or has the wrong type.
 */
export function decodeEpisode(line: string, where = 'episode'): Episode {
  // The arguments of a call may be nested as deep as a parser allows.
  if (nestingOf(line) > 2 * deepestJson)
    throw new AgogeError(`${where} is nested too deep`, {
      code: 'bad-episode',
      given: line.slice(0, 80),
      expected: `at most ${2 * deepestJson} levels`,
    })
  let raw: unknown
  try {
    raw = parseForeignJson(line, 2 * deepestJson)
  } catch (cause) {
    throw new AgogeError(`${where} is not JSON`, { code: 'bad-episode', given: line.slice(0, 80), cause })
  }
  const fail: Fail = (field, given, expected) => {
    throw new AgogeError(`${where}: the field ${field} is not as expected`, {
      code: 'bad-episode',
      given,
      expected,
    })
  }
  const { world, family, ...given } = isRecord(raw) ? raw : fail('(root)', raw, 'an object')
  // Version 0.1 calls these fields `world` and `family`.
  const record: Record<string, unknown> = {
    ...given,
    ...defined({ environment: world, kind: family }),
  }
  if (record['schema'] !== 1) fail('schema', record['schema'], '1')
  for (const field of ['id', 'group', 'environment', 'task', 'kind', 'ending'])
    if (typeof record[field] !== 'string') fail(field, record[field], 'a string')
  if (!['ok', 'masked', 'failed'].includes(record['status'] as string))
    fail('status', record['status'], 'ok, masked or failed')
  if (typeof record['seed'] !== 'number') fail('seed', record['seed'], 'a number')
  if (record['success'] !== null && typeof record['success'] !== 'boolean')
    fail('success', record['success'], 'true, false or null')
  checkNumbers(record['usage'], 'usage', ['promptTokens', 'sampledTokens', 'calls', 'invalidCalls'], fail)
  checkNumbers(record['timing'], 'timing', ['seconds', 'toolSeconds'], fail)
  record['task'] = currentTaskId(record['task'] as string)
  const list = (field: string): unknown[] => {
    const value = record[field]
    return Array.isArray(value) ? value : fail(field, value, 'an array')
  }
  const nodes = list('nodes').map((node, at): EpisodeNode => {
    if (!isRecord(node)) return fail(`nodes[${at}]`, node, 'an object')
    const tokens = node['tokens']
    if (!Array.isArray(tokens) || !tokens.every((token) => Number.isInteger(token)))
      return fail(`nodes[${at}].tokens`, tokens, 'an array of token ids')
    checkNode(node, `nodes[${at}]`, fail)
    return { ...(node as unknown as EpisodeNode), tokens: Int32Array.from(tokens as number[]) }
  })
  const samples = list('samples').map((sample, at): EpisodeSample => {
    if (!isRecord(sample)) return fail(`samples[${at}]`, sample, 'an object')
    const bytes = (field: string): Uint8Array<ArrayBuffer> => {
      const value = sample[field]
      if (typeof value !== 'string') return fail(`samples[${at}].${field}`, value, 'base64')
      return new Uint8Array(Buffer.from(value, 'base64'))
    }
    const mask = bytes('mask')
    const logprobBytes = bytes('logprobs')
    if (logprobBytes.length !== mask.length * 4)
      fail(
        `samples[${at}].logprobs`,
        logprobBytes.length,
        `${mask.length * 4} bytes, four for each mask value`,
      )
    checkSample(sample, `samples[${at}]`, fail)
    return { ...(sample as unknown as EpisodeSample), logprobs: new Float32Array(logprobBytes.buffer), mask }
  })
  const rewards = list('rewards') as EpisodeReward[]
  for (const [at, reward] of list('rewards').entries())
    if (!isRecord(reward) || !(reward['value'] === null || typeof reward['value'] === 'number'))
      fail(`rewards[${at}]`, reward, 'a number as its value, or null')
  return { ...(record as unknown as Episode), nodes, samples, rewards }
}

type Fail = (field: string, given: unknown, expected: string) => never

const isText = (value: unknown): boolean => typeof value === 'string'
const roles: readonly unknown[] = ['system', 'user', 'assistant', 'tool']

function checkNode(node: Readonly<Record<string, unknown>>, at: string, fail: Fail): void {
  const { id, parent, role, text, calls = [] } = node
  if (!Number.isInteger(id)) fail(`${at}.id`, id, 'a whole number')
  if (parent !== null && !Number.isInteger(parent)) fail(`${at}.parent`, parent, 'the id of a node, or null')
  if (!roles.includes(role)) fail(`${at}.role`, role, roles.join(', '))
  if (!isText(text)) fail(`${at}.text`, text, 'a string')
  const isCall = (call: unknown): boolean =>
    isRecord(call) && isText(call['id']) && isText(call['name']) && isRecord(call['arguments'])
  if (!Array.isArray(calls) || !calls.every(isCall))
    fail(`${at}.calls`, calls, 'an array of calls with id, name and arguments')
  for (const name of ['callId', 'invalid'])
    if (node[name] !== undefined && !isText(node[name])) fail(`${at}.${name}`, node[name], 'a string')
}

function checkSample(sample: Readonly<Record<string, unknown>>, at: string, fail: Fail): void {
  const { path, output, sampling } = sample
  if (!Array.isArray(path) || !path.every(Number.isInteger))
    fail(`${at}.path`, path, 'an array of ids of nodes')
  if (!Number.isInteger(output)) fail(`${at}.output`, output, 'the id of a node')
  if (!isRecord(sampling) || typeof sampling['temperature'] !== 'number')
    fail(`${at}.sampling`, sampling, 'an object with a temperature')
}

function checkNumbers(value: unknown, field: string, names: readonly string[], fail: Fail): void {
  if (!isRecord(value)) return fail(field, value, 'an object')
  for (const name of names)
    if (typeof value[name] !== 'number') fail(`${field}.${name}`, value[name], 'a number')
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function toBase64(array: Float32Array | Uint8Array): string {
  return Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString('base64')
}

/** Appends episodes to a JSONL file in one write. Truncates an incomplete last line left by a killed process. */
export function appendEpisodes(path: string, episodes: readonly Episode[]): void {
  appendLines(path, episodes.map(encodeEpisode))
}

/**
 * The episodes of a JSONL file, one after the other, for files that are larger than the memory. Drops an incomplete last line.
 *
 * @throws AgogeError naming any other line that is damaged.
 */
export async function* streamEpisodes(path: string): AsyncGenerator<Episode> {
  for await (const { line, text = '', isEnded } of foreignTexts(path))
    if (isEnded) yield decodeEpisode(text, `${path}:${line}`)
}

/**
 * Reads all episodes of a JSONL file. Drops an incomplete last line, left by a killed process.
 *
 * @throws AgogeError naming any other line that is damaged.
 */
export function readEpisodes(path: string): Episode[] {
  return readLines(path).map((line, at) => decodeEpisode(line, `${path}:${at + 1}`))
}
