import { createAdventure } from './adventure.ts'
import type { Adventure } from './adventure.ts'

/** The environments whose observations and actions are texts, by the name that the command line takes. */
export const textEnvironments: Readonly<Record<string, (options: { seed: number }) => Adventure>> = {
  adventure: createAdventure,
}
