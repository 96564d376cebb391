import { createRandom, hash32 } from '../../../../engine/random/index.ts'
import type { Task } from '../../../agent/types.ts'
import { UnusableSchema } from '../arguments/schema-parts.ts'
import type { Probe } from '../profile/tool-probing.ts'
import type { StateCallOptions } from '../server/state-pool.ts'
import type { ToolSystem } from '../tool-system.ts'
import { draftGoal, type GoalDraft, planKey } from './draft-goal.ts'
import type { GoalKind } from './kinds.ts'

/** Plans, arguments and initial states belong to one split each. */
export interface PlanSplits {
  /** Whether a draft belongs to the split. Unseen paraphrases are of the plans of the test. */
  belongs(kind: GoalKind, draft: GoalDraft, split: Task['split']): boolean
  /** Where a kind has only a few different plans, they are dealt out, so that training gets at least one. */
  dealFew(kind: GoalKind): Promise<void>
}

/** Different plans up to which they are dealt out. */
const mostFew = 8
/** Drafts by which the plans of a kind are counted. */
const countingDrafts = 40

/** Half of all plans are for training, a quarter for validation, a quarter for test and unseen paraphrases. */
export function createPlanSplits(
  system: ToolSystem,
  probe: Probe,
  seed: number,
  options: StateCallOptions,
): PlanSplits {
  const few = new Map<string, Map<string, Task['split']>>()
  return {
    belongs(kind, draft, split) {
      const key = planKey(draft)
      const own = few.get(kind.name)?.get(key) ?? splitOfPlan(key)
      return own === (split === 'unseen-paraphrase' ? 'test' : split)
    },
    async dealFew(kind) {
      const [combination] = kind.combinations
      if (kind.combinations.length > 1 || !['changes', 'question', 'chain'].includes(kind.build)) return
      const keys = new Set<string>()
      for (let draw = 0; draw < countingDrafts && keys.size <= mostFew; draw++) {
        const random = createRandom(seed, 'few', kind.name, draw)
        const split = draw % 2 === 0 ? 'train' : 'test'
        try {
          const draft = await draftGoal(system, kind, combination, split, probe, random, options)
          if (draft !== undefined) keys.add(planKey(draft))
        } catch (error) {
          if (!(error instanceof UnusableSchema)) throw error
          return
        }
      }
      if (keys.size > mostFew) return
      const sorted = [...keys].toSorted((a, b) => hash32('few', a) - hash32('few', b))
      const turns = ['train', 'test', 'train', 'validation'] as const
      few.set(kind.name, new Map(sorted.map((key, at) => [key, turns[at % turns.length]])))
    },
  }
}

function splitOfPlan(key: string): Task['split'] {
  const bucket = hash32('mcp-plan', key) % 4
  return bucket < 2 ? 'train' : bucket === 2 ? 'validation' : 'test'
}
