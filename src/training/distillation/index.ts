/** Learning from a better policy: a teacher, or one's own best attempts. */
export { expertIteration } from './expert-iteration.ts'
export type { ExpertIterationOptions, ExpertRound } from './expert-iteration.ts'
export { distil } from './on-policy.ts'
export type { DistillationOptions, DistillationStep } from './on-policy.ts'
