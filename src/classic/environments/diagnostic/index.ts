import { terminatedValue, truncatedValue } from './ends.ts'
import { observedPolicy, policy } from './policies.ts'
import type { Diagnostic, DiagnosticKind } from './diagnostic.ts'
import { constantValue, discountedValue, observedValue } from './values.ts'

export { memoryDiagnostic } from './memory.ts'
export type { Diagnostic, DiagnosticKind } from './diagnostic.ts'

const all = {
  'constant-value': constantValue,
  'observed-value': observedValue,
  'discounted-value': discountedValue,
  'truncated-value': truncatedValue,
  'terminated-value': terminatedValue,
  policy,
  'observed-policy': observedPolicy,
}

export type SkillName = keyof typeof all

/** By name, from what is needed least to what is needed most. */
export const diagnosticNames = Object.keys(all) as readonly SkillName[]

/** A probe with two choices, or with one continuous action in [-1, 1]. */
export const diagnostic = (name: SkillName, kind: DiagnosticKind): Diagnostic => all[name](kind)
