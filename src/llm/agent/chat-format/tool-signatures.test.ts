import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { templateText, tinyTokenizer } from '../testing/tiny-checkpoint.ts'
import { trainTokenizer } from '../../tokenizer/bpe-train.ts'
import { specialTokens } from '../../tokenizer/template.ts'
import { tokenizerToJson } from '../../tokenizer/tokenizer-json.ts'
import { createTokenizer } from '../../tokenizer/tokenizer.ts'
import { readChatFormat, readChatModel, smallFormatFiles } from './open-format.ts'
import { createSmallFormat } from './small-format.ts'
import { toolSignature, toolSignatures } from './tool-signatures.ts'
import type { ConversationMessage } from './types.ts'

const tokenizer = createTokenizer(
  trainTokenizer(['a tool of the list'], { vocabularySize: 280, specialTokens }),
)
const tool = {
  name: 'add_note',
  description: 'Adds a note to the list, which may be long.\nMore about it.',
  inputSchema: {
    type: 'object',
    properties: {
      title: { type: 'string' },
      tags: { type: 'array', items: { $ref: '#/$defs/tag' } },
      place: {
        type: 'object',
        properties: { city: { type: 'string' }, zip: { type: ['integer', 'null'] } },
        required: ['city'],
      },
      size: { anyOf: [{ type: 'null' }, { enum: ['small', 'very large'] }] },
      day: { type: 'string', format: 'date' },
      lines: {
        type: 'array',
        items: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
      },
      other: {},
    },
    required: ['title', 'day'],
    $defs: { tag: { enum: ['a', 'b'] } },
  },
}

test('a tool is one line, by its name, arguments, types and first sentence', () => {
  expect(toolSignature(tool)).toBe(
    'add_note(title: string, tags?: (a|b)[], place?: {city: string, zip?: integer}, size?: small|"very large", day: date, lines?: {n: number}[], other?: any) Adds a note to the list, which may be long',
  )
  expect(toolSignature({ name: 'ping', inputSchema: { type: 'object' } })).toBe('ping()')
})

test('a schema that refers to itself ends', () => {
  const inputSchema = { type: 'object', properties: { next: { $ref: '#' } } }
  expect(toolSignature({ name: 'chain', inputSchema })).toMatch(
    /^chain\(next\?: \{next\?: .{0,80}object.*\)$/,
  )
  const loop = { type: 'object', properties: { a: { $ref: '#/properties/a' } } }
  expect(toolSignature({ name: 'loop', inputSchema: loop })).toBe('loop(a?: any)')
})

test('descriptions, strings, optional arguments and arguments are given up in this order', () => {
  const other = { name: 'drop_every_note', description: 'Drops notes', inputSchema: tool.inputSchema }
  const texts = new Map<string, number>()
  for (let most = 500; most > 0; most -= 1)
    texts.set(
      toolSignatures([tool, other], (text) => text.length <= most),
      most,
    )
  const found = [...texts.keys()]
  expect(found.map((text) => text.length)).toEqual(found.map((text) => text.length).toSorted((a, b) => b - a))
  expect(found.some((text) => text.includes('add_note(title, tags?'))).toBe(true)
  expect(found).toContain('Tools:\nadd_note(title, day: date)\ndrop_every_note(title, day: date)')
  expect(found).toContain('Tools:\nadd_note\ndrop_every_note')
  expect(found).toContain('Tools:\nadd_note\nand 1 more')
  expect(found.at(-1)).toBe('')
})

const user = (text: string): ConversationMessage => ({ role: 'user', text })

test('by default a prompt has no tools, bit for bit', () => {
  const plain = createSmallFormat(tokenizer)
  expect(plain.readsTools).toBe(false)
  expect(plain.open([user('Hi')], [tool]).tokens).toEqual(plain.open([user('Hi')], []).tokens)
})

test('with a budget the tools come first, within it, and what follows goes on from them', () => {
  const format = createSmallFormat(tokenizer, { toolTokens: 60 })
  expect(format.readsTools).toBe(true)
  const messages = [user('Hi'), { role: 'assistant', text: 'Yes' } as const, user('More')]
  const first = format.open([messages[0]], [tool])
  expect(first.text.startsWith('Tools:\nadd_note')).toBe(true)
  expect(tokenizer.encode(first.text).length).toBeLessThanOrEqual(60)
  const output = format.write(first, messages.slice(0, 2), [tool])
  const next = format.follow(first, output, messages, [tool])!
  const whole = format.open(messages, [tool])
  expect([...first.tokens, ...output, ...next.tokens]).toEqual([...whole.tokens])
  // Other tools change the start of the prompt.
  expect(format.follow(first, output, messages, [])).toBeUndefined()
  const system = { role: 'system', text: 'Be brief.' } as const
  expect(tokenizer.decode(format.open([system, messages[0]], [tool]).tokens)).toMatch(
    /^<\|system\|>Tools:\nadd_note[^]*\n\nBe brief\.<\|end\|>/,
  )
  expect(format.open([messages[0]], []).text).toBe('')
})

test('the folder of a model says whether it reads tools', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-signatures-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  writeFileSync(join(folder, 'tokenizer.json'), tokenizerToJson(tokenizer.model))
  writeFileSync(join(folder, 'config.json'), '{"max_position_embeddings":2048}')
  expect((await readChatFormat(folder, tokenizer)).readsTools).toBe(false)
  expect(await readChatModel(folder)).toBeUndefined()
  for (const [name, text] of Object.entries(smallFormatFiles({ toolTokens: 300 })))
    writeFileSync(join(folder, name), text)
  expect((await readChatFormat(folder, tokenizer)).readsTools).toBe(true)
  expect(await readChatModel(folder)).toMatchObject({ window: 2048, format: { readsTools: true } })
  writeFileSync(join(folder, 'tokenizer_config.json'), '{"agoge":{"toolTokens":"many"}}')
  await expect(readChatFormat(folder, tokenizer)).rejects.toMatchObject({
    code: 'bad-checkpoint',
    given: 'many',
  })
})

test('choices that are no texts are written as JSON', () => {
  const choices = [{ toString: 'x' }, [[]], null, 1, true, 'a b', 'c']
  const inputSchema = { type: 'object', properties: { a: { enum: choices } }, required: ['a'] }
  expect(toolSignature({ name: 'f', inputSchema })).toBe('f(a: {"toString":"x"}|[[]]|null|1|true|"a b"|c)')
})

test.each(['config.json', 'tokenizer_config.json', 'generation_config.json', 'special_tokens_map.json'])(
  'a %s that is no JSON object is refused by its name',
  async (name) => {
    const folder = mkdtempSync(join(tmpdir(), 'agoge-signatures-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const special = tinyTokenizer('qwen')
    writeFileSync(join(folder, 'tokenizer.json'), tokenizerToJson(special.model))
    writeFileSync(join(folder, 'config.json'), '{"max_position_embeddings":2048}')
    writeFileSync(join(folder, 'chat_template.jinja'), templateText('qwen'))
    for (const text of ['', '{', 'null', '[]', '5', `${'['.repeat(20_000)}${']'.repeat(20_000)}`]) {
      writeFileSync(join(folder, name), text)
      await expect(readChatModel(folder)).rejects.toThrow(`${name} is not a JSON object`)
    }
  },
)
