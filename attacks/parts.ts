import type { AttackPart } from './attack.ts'

/** The parts of `npm run attack`, in the order in which they run. */
export const parts: readonly AttackPart[] = []
