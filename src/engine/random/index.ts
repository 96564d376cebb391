export { hash32, uniformAt, createRandom } from './random.ts'
export type { RandomKey, Random, RandomState } from './random.ts'
export { createPcg64 } from './pcg64.ts'
export type { Pcg64, Pcg64State } from './pcg64.ts'
