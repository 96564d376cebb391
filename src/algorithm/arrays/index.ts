import { entry } from './catalogue.ts'
import type { ArrayAlgorithmEntry } from './catalogue.ts'
import { ppo, ppoPresets } from './ppo.ts'

export type { ArrayAgent, ArrayAlgorithm, UpdateMetrics } from './agent.ts'
export { entry } from './catalogue.ts'
export type { ArrayAlgorithmEntry, Preset } from './catalogue.ts'
export { ppo, ppoPresets } from './ppo.ts'
export type { PpoConfig } from './ppo.ts'

/** The algorithms that can be asked for by name. */
export const arrayAlgorithms: Readonly<Record<string, ArrayAlgorithmEntry>> = {
  ppo: entry({
    about: 'proximal policy optimisation (Schulman et al. 2017)',
    presets: ppoPresets,
    create: ppo,
    defaultPreset: (world) => (world.startsWith('cartpole') ? 'sb3-zoo-cartpole' : 'cleanrl'),
  }),
}
