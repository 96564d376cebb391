import { expect, test } from 'vitest'
import { createAlgebra } from './expression.ts'
import { compileGrammar } from './compile.ts'
import { createGrammarCompiler } from './compiler.ts'
import { createGrammars, packTexts } from './cursor.ts'
import type { Grammar } from './compile.ts'
import { createStepBudget } from './step-budget.ts'

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
const texts = packTexts([
  ...Array.from({ length: 256 }, (_, byte) => Uint8Array.of(byte)),
  encode('{"'),
  encode('":'),
  undefined,
])
const marker = 258
const never = new AbortController().signal

/** Each fits few texts, but which state it is in takes a power of two many to say. */
const bomb: Grammar = {
  schema: {
    allOf: Array.from({ length: 12 }, (_, i) => ({ type: 'string', pattern: `^(a|b)*a(a|b){${i + 4}}$` })),
  },
}

test('a compiled grammar allows the same tokens as the grammar', async () => {
  const compiler = createGrammarCompiler(texts)
  const grammars: Grammar[] = [
    { sequence: [{ regex: '[^]*' }, { repeat: { sequence: [{ token: marker }, '{"a":1}'] } }] },
    { schema: { type: 'object', properties: { n: { type: 'number', minimum: 2 }, s: { type: 'string' } } } },
    { schema: { $ref: '#/$defs/t', $defs: { t: { type: 'array', items: { $ref: '#/$defs/t' } } } } },
    { schema: { enum: ['ab', 'abc', 'b', '', 3, null, { a: ['é'] }] }, spaces: true },
    { schema: { type: 'string', pattern: '^a+b', minLength: 4, maxLength: 9 } },
  ]
  for (const grammar of grammars) {
    const compiled = await compiler.compile(grammar, never)
    // Another thread has it as a copy.
    const [one, other] = [grammar, structuredClone(compiled)].map((each) => createGrammars(texts).start(each))
    for (let step = 0; step < 30 && !one.complete; step++) {
      const mask = one.mask(40 - step)
      expect([other.mask(40 - step), other.accepting, other.complete]).toEqual([mask, one.accepting, false])
      const allowed = Array.from(texts.markers.keys()).filter((id) => (mask[id >> 5] >> (id & 31)) & 1)
      if (allowed.length === 0) break
      const token = allowed[(step * 7) % allowed.length]
      one.advance(token)
      other.advance(token)
    }
    expect(other.complete).toBe(one.complete)
  }
  await compiler.dispose()
})

test('steps are bounded, and the error says which bound it was', async () => {
  const compiler = createGrammarCompiler(texts)
  await expect(compiler.compile(bomb, never)).rejects.toMatchObject({
    code: 'grammar-too-large',
    expected: expect.stringMatching(/at most \d+ steps to compile it/),
  })
  const chain = Object.fromEntries(
    Array.from({ length: 20_000 }, (_, i) => [`d${i}`, i === 19_999 ? true : { $ref: `#/$defs/d${i + 1}` }]),
  )
  for (const schema of [
    { $ref: '#/$defs/d0', $defs: chain },
    { oneOf: Array.from({ length: 20_000 }, (_, i) => ({ const: i })) },
    { type: 'string', pattern: `[${'a-cx'.repeat(20_000)}]` },
    { type: 'array', prefixItems: Array.from({ length: 5000 }, () => ({ type: 'integer' })) },
  ])
    await expect(compiler.compile({ schema }, never)).rejects.toMatchObject({ code: 'grammar-too-large' })
  await expect(compiler.compile({ choice: [] }, never)).rejects.toMatchObject({ code: 'bad-grammar' })
  await compiler.dispose()
})

test('a row whose grammar grows too large ends with an error, others of the same grammar do not', () => {
  // The shortest text is found at once; behind `b` it takes many states.
  const patterns = Array.from({ length: 12 }, (_, i) => `^(c|b(a|b)*a(a|b){${i + 4}})$`)
  const grammar = { schema: { allOf: patterns.map((pattern) => ({ type: 'string', pattern })) } }
  const grammars = createGrammars(texts)
  const start = () => grammars.start(grammar)
  const row = start()
  row.advance('"'.charCodeAt(0))
  expect(() => row.mask(60)).toThrow(expect.objectContaining({ code: 'grammar-too-large' }))
  const other = start()
  other.advance('"'.charCodeAt(0))
  other.advance('c'.charCodeAt(0))
  other.advance('"'.charCodeAt(0))
  expect(other.complete).toBe(true)
})

test('long lists cost steps in proportion: an enum of 20000 and 1000 properties are compiled', () => {
  const count = (schema: Record<string, unknown>): number => {
    const budget = createStepBudget()
    const algebra = createAlgebra(budget)
    return budget.within(1e9, 'count them', () => algebra.pack(compileGrammar(algebra, { schema }, []))).spent
  }
  const list = (length: number) => ({ enum: Array.from({ length }, (_, i) => `${i * i} of ${length}`) })
  expect(count(list(20_000))).toBeLessThan(15 * count(list(2000)))
  const names = Array.from({ length: 1000 }, (_, i) => `p${i}`)
  const properties = Object.fromEntries(names.map((name) => [name, { type: 'integer' }]))
  expect(count({ type: 'object', properties })).toBeLessThan(4e6)
  expect(count({ type: 'object', properties, required: names })).toBeLessThan(4e6)
})

test('a grammar without waiting callers stops compiling, and later ones compile', async () => {
  const compiler = createGrammarCompiler(texts)
  const [first, second] = [new AbortController(), new AbortController()]
  const gone = compiler.compile(bomb, first.signal)
  const behind = compiler.compile({ regex: 'a+' }, never)
  const dropped = compiler.compile({ regex: 'b+' }, second.signal)
  second.abort(new Error('the second hung up'))
  first.abort(new Error('the first hung up'))
  await expect(gone).rejects.toThrow('the first hung up')
  await expect(dropped).rejects.toThrow('the second hung up')
  const compiled = await behind
  // The same grammar again is the same object.
  expect(await compiler.compile({ regex: 'a+' }, never)).toBe(compiled)
  await compiler.dispose()
})
