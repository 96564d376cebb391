import { createRandom, hash32 } from '../../../../engine/random/index.ts'
import type { Task } from '../../../agent/types.ts'
import { asObject, requiredOf, resolveSchema, UnusableSchema } from '../arguments/schema-parts.ts'
import type { JsonSchema } from '../../../../untrusted/schema-check.ts'
import type { StateCallOptions } from '../server/state-pool.ts'
import type { ToolSystem } from '../tool-system.ts'
import { draftGoal, type GoalDraft, type GoalSources, planKey } from './draft-goal.ts'
import type { GoalKind } from './kinds.ts'

/** Plans, arguments and initial states belong to one split each. */
export interface PlanSplits {
  /** Whether a draft belongs to the split. Unseen paraphrases are of the plans of the test. */
  belongs(kind: GoalKind, draft: GoalDraft, split: Task['split']): boolean
  /**
   * Draws plans of a kind and gives training those that show what no other plan can tell: each value of a list in the schema, and
   * each optional argument given and left out. Where a kind has only a few different plans, the others are dealt out in turn.
   */
  deal(kind: GoalKind): Promise<void>
}

/** Different plans up to which they are dealt out. */
const mostFew = 12
/** Drafts by which the plans of a kind are found. */
const dealingDrafts = 40
/** Initial states of each split in them. Making one takes as long as many drafts. */
const dealingStates = 12

/** Half of all plans are for training, a quarter for validation, a quarter for test and unseen paraphrases. */
export function createPlanSplits(
  system: ToolSystem,
  sources: GoalSources,
  seed: number,
  options: StateCallOptions,
): PlanSplits {
  const dealt = new Map<string, Map<string, Task['split']>>()
  const few: GoalSources = {
    ...sources,
    initialStates: (split, random) => sources.initialStates(split, random, dealingStates),
  }
  const schemas = new Map(system.tools.map(({ spec }) => [spec.name, spec.inputSchema]))
  return {
    belongs(kind, draft, split) {
      const key = planKey(draft)
      const own = dealt.get(kind.name)?.get(key) ?? splitOfPlan(key)
      return own === (split === 'unseen-paraphrase' ? 'test' : split)
    },
    async deal(kind) {
      const [combination] = kind.combinations
      if (kind.combinations.length > 1 || !['changes', 'question', 'chain'].includes(kind.build)) return
      // Values differ between the splits: what training draws comes first.
      const plans: Record<'train' | 'test', Map<string, string[]>> = { train: new Map(), test: new Map() }
      for (let draw = 0; draw < dealingDrafts; draw++) {
        const random = createRandom(seed, 'few', kind.name, draw)
        const split = draw % 2 === 0 ? 'train' : 'test'
        try {
          const draft = await draftGoal(system, kind, combination, split, few, random, options)
          if (draft !== undefined) plans[split].set(planKey(draft), choicesOf(draft, schemas))
        } catch (error) {
          if (!(error instanceof UnusableSchema)) throw error
          return
        }
      }
      dealt.set(kind.name, dealPlans(byHash(plans.train), byHash(plans.test)))
    },
  }
}

type Plans = [key: string, choices: readonly string[]][]

function byHash(plans: ReadonlyMap<string, readonly string[]>): Plans {
  return [...plans].toSorted(([a], [b]) => hash32('few', a) - hash32('few', b))
}

/**
 * Gives training each plan with a choice that no plan before it shows. The others take turns if there are few in all; otherwise they
 * are not in the result.
 */
export function dealPlans(drawnForTraining: Plans, drawnForTest: Plans): Map<string, Task['split']> {
  const all = new Map([...drawnForTest, ...drawnForTraining])
  const split = new Map<string, Task['split']>()
  const shown = new Set<string>()
  for (const [key, choices] of [...drawnForTraining, ...drawnForTest]) {
    if (choices.every((choice) => shown.has(choice))) continue
    split.set(key, 'train')
    for (const choice of choices) shown.add(choice)
  }
  if (all.size > mostFew) return split
  const turns = split.size === 0 ? trainFirst : testFirst
  const rest = [...all.keys()].filter((key) => !split.has(key))
  for (const [at, key] of rest.entries()) split.set(key, turns[at % turns.length])
  return split
}

const trainFirst = ['train', 'test', 'train', 'validation'] as const
const testFirst = ['test', 'train', 'validation', 'train'] as const

/** What a plan chooses out of few possibilities: optional arguments that are given or left out, and values of a list. */
function choicesOf({ calls }: GoalDraft, schemas: ReadonlyMap<string, JsonSchema>): string[] {
  return calls.flatMap(({ tool, arguments: args }, at) => {
    const root = schemas.get(tool) ?? {}
    const schema = resolveSchema(root, root)
    const required = requiredOf(schema)
    return Object.entries(asObject(schema['properties'])).flatMap(([name, declared]) => {
      const place = `${at} ${tool} ${name}`
      const property = resolveSchema(asObject(declared), root)
      const listed = 'enum' in property || 'const' in property || property['type'] === 'boolean'
      return [
        ...(required.includes(name) ? [] : [`${place} ${name in args}`]),
        ...(listed && name in args ? [`${place} ${JSON.stringify(args[name])}`] : []),
      ]
    })
  })
}

function splitOfPlan(key: string): Task['split'] {
  const bucket = hash32('mcp-plan', key) % 4
  return bucket < 2 ? 'train' : bucket === 2 ? 'validation' : 'test'
}
