import { AgogeError } from '../../error.ts'

const poolSize = 4

function hashStream(start: number, factor: number): (value: number) => number {
  let hash = start
  return (value) => {
    let x = value ^ hash
    hash = Math.imul(hash, factor)
    x = Math.imul(x, hash)
    return (x ^ (x >>> 16)) >>> 0
  }
}

function mixWords(x: number, y: number): number {
  const result = (Math.imul(0xca01f9dd, x) - Math.imul(0x4973f715, y)) | 0
  return (result ^ (result >>> 16)) >>> 0
}

/**
 * NumPy's `SeedSequence(entropy).generate_state(words, uint64)`, which spreads a small seed over as many 64-bit words as a generator
 * needs (O'Neill 2015, "Developing a seed_seq alternative"). `entropy` is not negative.
 */
export function seedSequence(entropy: bigint, words: number): bigint[] {
  if (entropy < 0n) {
    throw new AgogeError('A seed is not negative.', {
      code: 'bad-argument',
      given: entropy,
      expected: 'an integer of at least 0',
    })
  }
  const assembled: number[] = []
  for (let rest = entropy; rest > 0n || assembled.length === 0; rest >>= 32n)
    assembled.push(Number(rest & 0xffffffffn))

  const hash = hashStream(0x43b0d7e5, 0x931e8875)
  const pool = Array.from({ length: poolSize }, (_, i) => hash(assembled[i] ?? 0))
  for (let from = 0; from < poolSize; from++) {
    for (let to = 0; to < poolSize; to++) if (from !== to) pool[to] = mixWords(pool[to], hash(pool[from]))
  }
  for (const extra of assembled.slice(poolSize)) {
    for (let to = 0; to < poolSize; to++) pool[to] = mixWords(pool[to], hash(extra))
  }

  const output = hashStream(0x8b51f9dd, 0x58f38ded)
  const halves = Array.from({ length: words * 2 }, (_, i) => BigInt(output(pool[i % poolSize])))
  return Array.from({ length: words }, (_, i) => halves[2 * i] | (halves[2 * i + 1] << 32n))
}
