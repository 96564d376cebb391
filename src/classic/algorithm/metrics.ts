import type { HostTensor } from '../../engine/tensor/index.ts'
import type { UpdateMetrics } from './agent.ts'

/** Scalars that a program gave, as numbers. */
export const metrics = (outputs: Readonly<Record<string, HostTensor>>): UpdateMetrics =>
  Object.fromEntries(Object.entries(outputs).map(([name, { data }]) => [name, data[0]]))
