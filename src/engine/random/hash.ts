/** A part of the name of a random stream. Numbers and strings never collide: `1` and `'1'` name two streams. */
export type RandomKey = number | string

function rotateLeft(x: number, by: number): number {
  return (x << by) | (x >>> (32 - by))
}

/** One round of MurmurHash3 (Appleby 2011, public domain) over a 32-bit word. */
function absorb(hash: number, word: number): number {
  const scrambled = Math.imul(rotateLeft(Math.imul(word, 0xcc9e2d51), 15), 0x1b873593)
  return (Math.imul(rotateLeft(hash ^ scrambled, 13), 5) + 0xe6546b64) | 0
}

/** MurmurHash3's finaliser: each input bit changes each output bit with probability close to one half. */
export function mix32(x: number): number {
  let h = x | 0
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b)
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35)
  return (h ^ (h >>> 16)) >>> 0
}

const float = new Float64Array(1)
const words = new Int32Array(float.buffer)

function absorbKey(hash: number, key: RandomKey): number {
  if (typeof key === 'number') {
    // Adding 0 turns -0 into 0, so both are the same key.
    float[0] = key + 0
    return absorb(absorb(absorb(hash, 1), words[0]), words[1])
  }
  let h = absorb(absorb(hash, 2), key.length)
  for (let i = 0; i < key.length; i += 2) {
    h = absorb(h, key.charCodeAt(i) | (i + 1 < key.length ? key.charCodeAt(i + 1) << 16 : 0))
  }
  return h
}

/**
 * A well-mixed 32-bit hash of a list of keys, as an integer in [0, 2^32). Depends on the order and the types of
 * the keys. Not cryptographic.
 */
export function hash32(...keys: RandomKey[]): number {
  return saltedHash(0, keys)
}

/** `hash32` with one of 2^32 independent salts. */
export function saltedHash(salt: number, keys: readonly RandomKey[]): number {
  let h = salt | 0
  for (const key of keys) h = absorbKey(h, key)
  return mix32(h ^ keys.length)
}

/**
 * Random number `counter` of the stream `(seed, key)`, uniform in [0, 1) with 53 random bits. Stateless: the
 * result depends only on the arguments, so sampling does not depend on batching or order.
 */
export function uniformAt(seed: number, key: RandomKey, counter: number): number {
  let h = absorbKey(absorbKey(0x5bd1e995, seed), key)
  h = absorbKey(h, counter)
  const high = mix32(h)
  const low = mix32(Math.imul(h, 0x9e3779b1) ^ 0x7f4a7c15)
  return (high * 0x200000 + (low >>> 11)) / 0x20000000000000
}
