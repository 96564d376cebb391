// Run folders of others, and checkpoint folders.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Random } from '../../../src/engine/random/index.ts'
import {
  formatChecksums,
  parseChecksums,
  readWithChecksum,
  sha256,
  withChecksum,
} from '../../../src/runs/checksums.ts'
import { convertRun, renameFields } from '../../../src/runs/convert.ts'
import { readMetrics } from '../../../src/runs/metrics.ts'
import { openRunFolder } from '../../../src/runs/run-folder.ts'
import { currentCheckpoint, loadRun, readConfig, recordedBase } from '../../../src/runs/run-store.ts'
import { decodeState, encodeState } from '../../../src/runs/state-bytes.ts'
import { deepestJson, nestingOf } from '../../../src/untrusted/foreign-json.ts'
import { joined, makeBytes } from '../mutate-bytes.ts'
import { makeJson } from '../mutate-json.ts'
import { makeText } from '../mutate-text.ts'
import { bytesOf, isRecord, jsonOf, Mismatch, mustEqual, textOf } from '../parser.ts'
import type { FuzzParser } from '../parser.ts'
import { folder } from '../scratch.ts'

const sum = sha256('a')
const lists = {
  examples: [
    formatChecksums(
      new Map([
        ['a', sum],
        ['checkpoints/final/model.safetensors', sum],
        ['x.y-z_1', sum],
      ]),
    ),
  ],
  words: [sum, '  ', '\n', 'a/b', '../x', '/etc', 'a//b', './a', '..', ' '],
}

const checksums: FuzzParser = {
  name: 'a list of checksums',
  make: (random) => makeText(random, lists),
  parse(input, reach) {
    const text = textOf(input)
    if (text.includes(sum)) reach(1)
    if (text.split('\n').some((line) => /^[0-9a-f]{64} {2}\S/.test(line))) reach(2)
    const read = parseChecksums(text)
    if (read === undefined) return
    reach(3)
    for (const name of read.keys())
      if (join('/run', name) !== `/run/${name}` && !name.split('/').includes('.'))
        throw new Mismatch(`a name that leads elsewhere: ${name}`)
    mustEqual([...(parseChecksums(formatChecksums(read)) ?? [])], [...read], 'checksums written and read')
  },
}

const state = { checkpoint: 'step-4', state: { schema: 1, phase: 'rl', step: 4, best: null } }
const stateSum = sha256(JSON.stringify(state))
const files: Record<string, readonly string[]> = {
  'state.json': [
    withChecksum(state, 1),
    withChecksum({ ...state, keep: ['step-2'] }),
    `${JSON.stringify(state)}\n`,
  ],
  'times.json': [
    withChecksum(
      { times: { [stateSum]: { seconds: 3, offsets: { 'metrics.jsonl': 10, 'episodes.jsonl': 0 } } } },
      1,
    ),
  ],
  'config.json': [
    `${JSON.stringify({ schema: 1, kind: 'array', environment: 'cartpole', numEnvs: 4, base: sum }, null, 2)}\n`,
  ],
  'metrics.jsonl': [
    '{"phase":"rl","step":1,"seconds":2,"metrics":{"loss":1}}\n{"phase":"rl","step":2,"seconds":2,"metrics":{}}\n',
  ],
  'checksums.sha256': [formatChecksums(new Map([['config.json', sum]]))],
}
const words =
  'checkpoint state schema phase step best times offsets metrics.jsonl seconds sha256 keep base kind environment world slots'.split(
    ' ',
  )

/** The name of one file, and its mutated content. Of a file with a checksum, the checksum is often made right again. */
function makeFile(random: Random): string {
  const name = random.pick(Object.keys(files))
  if (name === 'checksums.sha256') return `${name}\n${makeText(random, lists)}`
  const text =
    name === 'metrics.jsonl'
      ? makeText(random, { examples: files[name], words })
      : makeJson(random, { examples: files[name], words })
  return `${name}\n${random.next() < 0.7 && name !== 'config.json' ? signed(text) : text}`
}

/** A JSON object with the checksum that belongs to it. */
function signed(text: string): string {
  const read = nestingOf(text) > deepestJson ? undefined : jsonOf(text)
  if (!isRecord(read?.value)) return text
  const { sha256: _, ...fields } = read.value
  return withChecksum(fields, 1)
}

const runFolder: FuzzParser = {
  name: 'a run folder',
  share: 0.12,
  make: makeFile,
  async parse(input, reach) {
    const text = textOf(input)
    const at = text.indexOf('\n')
    const [name, content] = [text.slice(0, at), text.slice(at + 1)]
    if (!(name in files)) return
    if (jsonOf(content) !== undefined) reach(1)
    if (isRecord(jsonOf(content)?.value)) reach(2)
    const path = join(folder(), 'run')
    rmSync(path, { recursive: true, force: true })
    mkdirSync(join(path, 'checkpoints', 'step-4'), { recursive: true })
    for (const [file, [valid]] of Object.entries(files))
      if (file !== 'checksums.sha256') writeFileSync(join(path, file), valid)
    writeFileSync(join(path, name), content)
    const run = openRunFolder({ path })
    for (const each of [
      () => readConfig(run),
      () => recordedBase(run),
      () => currentCheckpoint(run),
      () => readMetrics(run, () => {}),
      async () => {
        const loaded = await loadRun(run, ({ schema }) => schema === 1)
        if (
          loaded !== null &&
          dirname(join(path, 'checkpoints', loaded.checkpoint)) !== join(path, 'checkpoints')
        )
          throw new Mismatch(`a checkpoint outside of the run: ${loaded.checkpoint}`)
        reach(3)
      },
      () => convertRun(path),
    ])
      try {
        await each()
      } catch (error) {
        if (
          (error as { code?: unknown }).code === undefined ||
          error instanceof TypeError ||
          error instanceof RangeError
        )
          throw error
      }
  },
}

const checked: FuzzParser = {
  name: 'JSON with its checksum',
  make(random) {
    const text = makeJson(random, { examples: files['state.json'], words })
    return random.next() < 0.5 ? signed(text) : text
  },
  parse(input, reach) {
    const text = textOf(input)
    const plain = jsonOf(text)
    if (plain !== undefined) reach(1)
    if (isRecord(plain?.value)) reach(2)
    const read = readWithChecksum(text)
    if (read === undefined) return
    reach(3)
    mustEqual(readWithChecksum(withChecksum(read.fields))?.fields, read.fields, 'fields written and read')
    renameFields(read.fields)
  },
}

const values: readonly unknown[] = [
  {
    step: 4,
    agent: { weights: Float32Array.of(1, 2, 3), order: [1, -0, NaN, Infinity], none: undefined },
    map: new Map([['a', new Set([1])]]),
  },
  {
    big: 12n,
    bytes: new Uint8Array([1, 2]).buffer,
    f64: Float64Array.of(0.1),
    i64: BigInt64Array.of(1n),
    date: new Date(0),
  },
  [[], [[]], 'text', null, true],
]
const encoded = values.map(encodeState)
const headOf = (bytes: Uint8Array): string =>
  Buffer.from(bytes.subarray(4, 4 + Buffer.from(bytes).readUInt32LE())).toString()
const heads = {
  examples: encoded.map(headOf),
  words: [
    'array',
    'map',
    'set',
    'number',
    'bigint',
    'undefined',
    'ArrayBuffer',
    'Float32Array',
    'v8',
    'BigInt64Array',
  ],
}

/** A mutated head with its right length, or mutated bytes. */
function makeState(random: Random): Uint8Array {
  if (random.next() < 0.3) return makeBytes(random, encoded)
  const chosen = random.pick(encoded)
  const head = Buffer.from(makeJson(random, heads))
  const length = Buffer.alloc(4)
  length.writeUInt32LE(head.length)
  return joined(length, head, chosen.subarray(4 + Buffer.from(chosen).readUInt32LE()))
}

const stateBytes: FuzzParser = {
  name: 'the state of a learner',
  share: 2,
  make: makeState,
  parse(input, reach) {
    const bytes = bytesOf(input)
    if (bytes.length > 4) {
      const head = jsonOf(headOf(bytes))
      if (head !== undefined) reach(1)
      if (isRecord(head?.value) || Array.isArray(head?.value)) reach(2)
    }
    const decoded = decodeState(bytes)
    reach(3)
    const again = encodeState(decoded)
    if (!Buffer.from(encodeState(decodeState(again))).equals(Buffer.from(again)))
      throw new Mismatch('a state written and read')
  },
}

export const runParsers: readonly FuzzParser[] = [checksums, runFolder, checked, stateBytes]
