import { heldOutTasks } from '../rollout/index.ts'
import { smallModelPlan } from '../training/defaults.ts'
import { adventureTasks, createAdventureWorld } from '../worlds/adventure/index.ts'
import type { OpenedWorld } from './open-world.ts'

/** Opens the text adventure for language models: quests take up to twenty commands, each with a page to read. */
export const openAdventure = (): OpenedWorld => ({
  world: createAdventureWorld(),
  tasks: adventureTasks,
  plan: {
    ...smallModelPlan,
    demonstrations: Object.fromEntries(adventureTasks.families.map((family) => [family, 200])),
    limits: { ...smallModelPlan.limits, turns: 24, totalTokens: 4096 },
  },
  heldOut: (split, count) => heldOutTasks(adventureTasks, split, count),
})
