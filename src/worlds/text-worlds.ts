import { createAdventure } from './adventure/index.ts'
import type { Adventure } from './adventure/index.ts'

/** The worlds whose observations and actions are texts, by the name that the command line takes. */
export const textWorlds: Readonly<Record<string, (options: { seed: number }) => Adventure>> = {
  adventure: createAdventure,
}
