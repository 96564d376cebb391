/** Learning with a critic: PPO over tokens. */
export { trainTokenPpo } from './token-ppo.ts'
export type { RewardedRow } from './credit-tokens.ts'
export type { TokenPpoOptions, TokenPpoStep } from './token-ppo.ts'
