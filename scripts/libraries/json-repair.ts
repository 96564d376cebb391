// Damaged tool calls, mended by our own code and by `jsonrepair`. Alone: json-repair.ts MENDER HOSTILE SIZE.
import { isDeepStrictEqual } from 'node:util'
import { fileURLToPath } from 'node:url'
import { repairJson } from '../../src/llm/agent/parse-calls.ts'
import { alternate, attempt, inProcess, loadLibrary, numbersOf } from './measure.ts'

const limitSeconds = 10
const random = numbersOf(1)
const below = (most: number): number => Math.floor(random() * most)
const oneOf = <T>(values: readonly T[]): T => values[below(values.length)]

type Mend = (text: string) => unknown
type MenderName = 'ours' | 'jsonrepair'

const menders: Record<MenderName, () => Promise<Mend>> = {
  ours: async () => repairJson,
  jsonrepair: async () => {
    const { jsonrepair } = await loadLibrary<{ jsonrepair: (text: string) => string }>('jsonrepair')
    return (text) => JSON.parse(jsonrepair(text)) as unknown
  },
}

const texts = [
  'notes/march.txt',
  'a "quoted" word',
  "it's here",
  'two\nlines\tand a tab',
  'naïve café 日本語',
  'C:\\path\\to',
  '{"inner": [1, 2]}',
  'http://example.org/a?b=c // no comment',
  '/* neither */',
  '',
]

function value(depth: number): unknown {
  const kind = below(depth > 0 ? 6 : 4)
  if (kind === 0) return Math.round(random() * 2000 - 1000) / oneOf([1, 8])
  if (kind === 1) return oneOf([true, false, null])
  if (kind < 4) return oneOf(texts)
  if (kind === 4) return Array.from({ length: below(4) }, () => value(depth - 1))
  return Object.fromEntries(Array.from({ length: below(4) }, (_, i) => [`key${i}`, value(depth - 1)]))
}
const makeCall = () => ({
  name: oneOf(['read_file', 'search', 'move']),
  arguments: { path: oneOf(texts), limit: below(100), options: value(3) },
})

/** What models do to a call that is complete. */
const damages: Record<string, (json: string) => string> = {
  'none (valid)': (json) => json,
  'a comma behind the last item': (json) => json.replace(/\}\}$/, ',},}'),
  'no quotes around keys': (json) => json.replaceAll(/"(\w+)":/g, '$1:'),
  "Python's constants": (json) =>
    json.replaceAll(/\b(true|false|null)\b/g, (each) =>
      each === 'null' ? 'None' : each === 'true' ? 'True' : 'False',
    ),
  'no closing brackets': (json) => json.replace(/[}\]]+$/, ''),
  'words behind it': (json) => `${json}\n\nI called the tool to read the file.`,
}

/** Texts that stand for many of their kind, of a size. */
const hostile: Record<string, (size: number) => string> = {
  'small objects': (size) => '{"a":1}\n'.repeat(size),
  'small objects in a list': (size) => `[${'{a:1},'.repeat(size)}`,
  'opening brackets': (size) => '['.repeat(size),
  'an open string': (size) => `{"a": "${'b'.repeat(size)}`,
  'unbalanced quotes': (size) => `{"a": ${'"b '.repeat(size)}`,
}

const isObject = (found: unknown): boolean =>
  typeof found === 'object' && found !== null && !Array.isArray(found)
function mended(mend: Mend, text: string): unknown {
  try {
    return mend(text)
  } catch {
    return undefined
  }
}
const percent = (hits: number, all: number): string => `${((100 * hits) / all).toFixed(1)}%`

/** Prints how many damaged calls each mends, what prose becomes, processor time, and what hostile texts do. */
export async function compare(): Promise<void> {
  const [ours, peer] = [await menders.ours(), await menders.jsonrepair()]
  const calls = Array.from({ length: 4_000 }, makeCall)
  const both = (count: (mend: Mend) => number, all: number): string =>
    `ours ${percent(count(ours), all)}, jsonrepair ${percent(count(peer), all)}`

  for (const [name, damage] of Object.entries(damages)) {
    const read = (mend: Mend): number =>
      calls.filter((call) => isDeepStrictEqual(mended(mend, damage(JSON.stringify(call))), call)).length
    console.log(`${name}, read as the call it was: ${both(read, calls.length)}`)
  }
  const cut = calls
    .map((call) => JSON.stringify(call))
    .map((json) => json.slice(0, 1 + below(json.length - 1)))
  const objects = (mend: Mend): number => cut.filter((text) => isObject(mended(mend, text))).length
  console.log(`cut off anywhere, becomes an object: ${both(objects, cut.length)}`)
  const prose = 'Sure, I will read the file for you.'
  for (const [name, mend] of Object.entries({ ours, jsonrepair: peer }))
    console.log(`prose becomes, ${name}: ${JSON.stringify(mended(mend, prose)) ?? 'nothing'}`)

  const damaged = calls.map((call, i) => Object.values(damages)[1 + (i % 4)](JSON.stringify(call)))
  const all = (mend: Mend) => () => damaged.forEach((text) => mended(mend, text))
  await alternate('4,000 damaged calls', { ours: all(ours), peer: all(peer), peerName: 'jsonrepair' })

  const script = fileURLToPath(import.meta.url)
  for (const shape of Object.keys(hostile))
    for (const name of Object.keys(menders))
      for (const size of ['20000', '40000', '80000'])
        console.log(
          `  ${shape}, ${size}, ${name}: ${await inProcess(script, [name, shape, size], limitSeconds)}`,
        )
}

const [script, name, shape, size] = process.argv.slice(1)
if (script === fileURLToPath(import.meta.url)) {
  const mend = await menders[name as MenderName]()
  const text = hostile[shape](Number(size))
  console.log(
    await attempt(() =>
      mend(text) === undefined ? 'given up' : `mended ${Math.round(text.length / 1000)} KB`,
    ),
  )
  process.exit(0)
}
