// Our byte-level BPE against `@huggingface/tokenizers`, and that library against Python's `tokenizers` for the other kinds of
// tokenizer, if AGOGE_PEERS_PYTHON names a Python with `tokenizers` and `sentencepiece`.
import { Tokenizer as Library } from '@huggingface/tokenizers'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { tokenizerFromJson } from '../../src/llm/tokenizer/tokenizer-json.ts'
import { createTokenizer } from '../../src/llm/tokenizer/tokenizer.ts'
import { alternate, numbersOf } from './measure.ts'

type Json = Record<string, unknown>
type Golden = Record<string, { json: Json; cases: [text: string, ...unknown[]][] }>

const at = (path: string): URL => new URL(`../../${path}`, import.meta.url)
const readJson = (path: string): unknown => JSON.parse(readFileSync(at(path), 'utf8'))
const openOurs = (json: Json) => createTokenizer(tokenizerFromJson(JSON.stringify(json)))
const openLibrary = (json: Json) => new Library(json, {})
const ids = (library: Library, text: string): number[] =>
  text === '' ? [] : library.encode(text, { add_special_tokens: false }).ids

const random = numbersOf(1)
const below = (most: number): number => Math.floor(random() * most)
/** Blocks of Unicode from which symbols are drawn: first and last code point. */
const blocks = [
  [0x20, 0x7e],
  [0x20, 0x7e],
  [0x09, 0x0d],
  [0xa0, 0x24f],
  [0x300, 0x36f],
  [0x370, 0x4ff],
  [0x590, 0x6ff],
  [0x900, 0x97f],
  [0x2000, 0x206f],
  [0x3040, 0x30ff],
  [0x4e00, 0x4fff],
  [0xac00, 0xacff],
  [0xff00, 0xffef],
  [0x1f300, 0x1f6ff],
]
const symbols = (most: number): string =>
  Array.from({ length: 1 + below(most) }, () => {
    const [first, last] = blocks[below(blocks.length)]
    return String.fromCodePoint(first + below(last - first + 1))
  }).join('')

function compareByteLevel(name: string, json: Json, texts: readonly string[]): void {
  const [ours, library] = [openOurs(json), openLibrary(json)]
  const others = texts.filter(
    (text) => ours.encode(text, { addedTokens: true }).join() !== ids(library, text).join(),
  )
  const shown = others.slice(0, 2).map((text) => JSON.stringify(text))
  console.log(
    `${name}: ${others.length} of ${texts.length} texts encoded otherwise by the library ${shown.join(' ')}`,
  )
}

/** Prints texts that are encoded otherwise, and processor times. */
export async function compare(): Promise<void> {
  const byteLevel = readJson('src/llm/golden/tokenizers.json') as Golden
  for (const [name, { json, cases }] of Object.entries(byteLevel)) {
    // Symbols, and pieces of the reference's texts in a row.
    const piece = (): string => cases[below(cases.length)][0].slice(0, 1 + below(30))
    const generated = Array.from({ length: 2_000 }, (_, i) =>
      i % 2 === 0 ? symbols(40) : piece() + piece() + piece(),
    )
    compareByteLevel(name, json, [...cases.map(([text]) => text), ...generated])
  }

  const base = readJson('models/base/tokenizer.json') as Json
  const page = readFileSync(at('ARCHITECTURE.md'), 'utf8') + readFileSync(at('CONTRIBUTING.md'), 'utf8')
  const pages = Array.from({ length: 50 }, (_, i) => {
    const start = (i * 997) % (page.length - 5_000)
    return page.slice(start, start + 5_000)
  })
  for (const [name, json] of Object.entries({ llama3: byteLevel['llama3'].json, base })) {
    const [ours, library] = [openOurs(json), openLibrary(json)]
    await alternate(`${name}: encoding 50 texts of 5 KB`, {
      ours: () => pages.forEach((text) => ours.encode(text)),
      peer: () => pages.forEach((text) => ids(library, text)),
      peerName: 'the library',
    })
    const encoded = pages.map((text) => Array.from(ours.encode(text)))
    await alternate(`${name}: decoding them`, {
      ours: () => encoded.forEach((each) => ours.decode(each)),
      peer: () => encoded.forEach((each) => library.decode(each, { skip_special_tokens: false })),
      peerName: 'the library',
    })
  }
  compareSubword()
}

function compareSubword(): void {
  const python = process.env['AGOGE_PEERS_PYTHON']
  if (python === undefined) return console.log('other kinds: left out, AGOGE_PEERS_PYTHON is not set')
  const golden = readJson('src/llm/golden/subword-tokenizers.json') as Golden
  const jobs = Object.entries({ ...golden, precompiled: golden['unigram'] }).map(
    ([name, { json, cases }]) => ({
      name,
      json,
      texts: [...cases.map(([text]) => text), ...Array.from({ length: 1_500 }, () => symbols(40))],
    }),
  )
  const { stdout, status } = spawnSync(
    python,
    ['-B', fileURLToPath(new URL('encode_texts.py', import.meta.url))],
    {
      input: JSON.stringify(jobs),
      encoding: 'utf8',
      maxBuffer: 2 ** 28,
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  )
  if (status !== 0) throw new Error('encode_texts.py failed')
  const answers = JSON.parse(stdout) as { json: Json; ids: number[][] }[]
  for (const [i, { name, texts }] of jobs.entries()) {
    const library = openLibrary(answers[i].json)
    const ours = openOurs(answers[i].json)
    const same = (read: (text: string) => ArrayLike<number>): number =>
      texts.filter((text, t) => Array.from(read(text)).join() === answers[i].ids[t].join()).length
    console.log(
      `${name}: of ${texts.length} texts as Python encodes them: the library ${same((text) => ids(library, text))}, ours over it ${same((text) => ours.encode(text, { addedTokens: true }))}`,
    )
  }
}
