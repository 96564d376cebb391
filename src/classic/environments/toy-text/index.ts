export { blackjack } from './blackjack.ts'
export { blackjackState } from './blackjack-model.ts'
export { cliffWalking, cliffWalkingSlippery } from './cliff-walking.ts'
export {
  frozenLake,
  frozenLake8x8,
  frozenLakeGenerated,
  frozenLakeOf,
  generatedFrozenLake,
} from './frozen-lake.ts'
export { generateLake, largeLake, readLake, smallLake } from './frozen-lake-map.ts'
export type { LakeMap } from './frozen-lake-map.ts'
export { taxi } from './taxi.ts'
