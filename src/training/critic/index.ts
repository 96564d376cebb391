/** Learning with a critic: PPO over tokens, ArCHer over utterances, attribution of progress. */
export { trainArcher } from './archer.ts'
export type { ArcherOptions, ArcherStep } from './archer.ts'
export { progressCredit, trainProgressModel } from './progress.ts'
export type { ProgressModelOptions } from './progress.ts'
export { trainTokenPpo } from './token-ppo.ts'
export type { RewardedRow } from './credit-tokens.ts'
export type { TokenPpoOptions, TokenPpoStep } from './token-ppo.ts'
