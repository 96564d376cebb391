import { heldOutTasks } from '../../llm/rollout/held-out.ts'
import { smallModelPlan } from '../../llm/training/defaults.ts'
import { adventureEnvironment } from '../../llm/environment/adventure/tool-environment.ts'
import type { OpenedNamed } from './open-environment.ts'

/** Opens the text adventure for language models: quests take up to twenty commands, each with a page to read. */
const adventureTasks = adventureEnvironment.tasks
export const openAdventure = async (): Promise<OpenedNamed> => ({
  environment: await adventureEnvironment.create(),
  tasks: adventureTasks,
  plan: {
    ...smallModelPlan,
    demonstrations: Object.fromEntries(adventureTasks.kinds.map((family) => [family, 200])),
    limits: { ...smallModelPlan.limits, turns: 24, totalTokens: 4096 },
  },
  heldOut: (split, count) => heldOutTasks(adventureTasks, split, count),
})
