/**
 * Files that define advantages, losses and preference losses, one per line. A test fails if such a file is missing
 * here.
 */
export * from './advantages/grpo.ts'
export * from './advantages/baselines.ts'
export * from './advantages/reinforce-plus-plus.ts'
export * from './advantages/best-of-k.ts'
export * from './advantages/turns.ts'
export * from './losses/ppo.ts'
export * from './losses/gspo.ts'
export * from './losses/cispo.ts'
export * from './losses/sapo.ts'
export * from './losses/dppo.ts'
export * from './losses/kimi.ts'
export * from './losses/topr.ts'
export * from './preference/pairs.ts'
export * from './preference/reward-model.ts'
