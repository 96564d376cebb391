import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { createRandom } from '../../engine/random/index.ts'
import { createGrammars, packTexts } from './cursor.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

function megabytes(): number {
  collect()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return (heapUsed + arrayBuffers) / 2 ** 20
}

/** An object of 40 enums of 40 texts: some 7,000 expressions once they were walked through. */
function schema(number: number): Record<string, unknown> {
  const words = Array.from({ length: 40 }, (_, i) => `word${(i * 7919 + number).toString(36)}`)
  const properties = Object.fromEntries(
    words.map((word) => [word, { enum: words.map((text) => word + text) }]),
  )
  return { type: 'object', properties, required: words.slice(0, 2), additionalProperties: false }
}

test('grammars of strangers take no more than a fixed amount of memory', () => {
  const texts = Array.from({ length: 257 }, (_, id) => (id < 256 ? Uint8Array.of(id) : undefined))
  const grammars = createGrammars(packTexts(texts))
  const random = createRandom(1)
  const before = megabytes()
  let longest = 0
  for (let number = 0; number < 120; number++) {
    const grammar = { schema: schema(number), spaces: false }
    for (let row = 0; row < 8; row++) {
      const cursor = grammars.start(grammar)
      let length = 0
      for (; length < 300 && !cursor.complete; length++) {
        const bits = cursor.mask(Infinity)
        const allowed = texts.flatMap((_, id) => ((bits[id >> 5] >> (id & 31)) & 1 ? [id] : []))
        if (allowed.length === 0) break
        cursor.advance(random.pick(allowed))
      }
      longest = Math.max(longest, length)
    }
  }
  expect(longest).toBeGreaterThan(50)
  const grown = megabytes() - before
  // They are still in use.
  expect(grammars.start({ schema: schema(0), spaces: false }).complete).toBe(false)
  // It was 324 MB before there was a limit of bytes, and 102 MB with one of 96 MB, twice the present one.
  expect(grown).toBeLessThan(200)
})
