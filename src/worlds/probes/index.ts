import { terminatedValue, truncatedValue } from './ends.ts'
import { observedPolicy, policy } from './policies.ts'
import type { Probe, ProbeKind } from './probe.ts'
import { constantValue, discountedValue, observedValue } from './values.ts'

export { memoryProbe } from './memory.ts'
export type { Probe, ProbeKind } from './probe.ts'

const all = {
  'constant-value': constantValue,
  'observed-value': observedValue,
  'discounted-value': discountedValue,
  'truncated-value': truncatedValue,
  'terminated-value': terminatedValue,
  policy,
  'observed-policy': observedPolicy,
}

export type ProbeName = keyof typeof all

/** By name, from what is needed least to what is needed most. */
export const probeNames = Object.keys(all) as readonly ProbeName[]

/** A probe with two choices, or with one continuous action in [-1, 1]. */
export const probe = (name: ProbeName, kind: ProbeKind): Probe => all[name](kind)
