import { createRandom } from '../../../../engine/random/index.ts'
import type { Task } from '../../../agent/types.ts'
import { splitKey } from '../../../episode/split.ts'
import { InfrastructureError } from '../../../tool/tool.ts'
import { UnusableSchema } from '../arguments/schema-parts.ts'
import { statementStart } from '../arguments/sql.ts'
import type { McpTask } from '../mcp-task.ts'
import type { ToolExample } from '../profile/tool-profile.ts'
import type { Probe } from '../profile/tool-probing.ts'
import { compactResult } from '../salient.ts'
import { speechOf } from '../request/step-words.ts'
import type { ToolSystem } from '../tool-system.ts'
import { draftGoal } from './draft-goal.ts'
import { findHollow } from './hollow-kinds.ts'
import { combinationsFor, goalKinds, longestKind, type Combination, type GoalKind } from './kinds.ts'
import { createInitialStates } from './initial-states.ts'
import { makeGoalTask } from './make-task.ts'
import { createPlanSplits } from './plan-splits.ts'
import { readResult, tablesIn } from './tables.ts'

/** Makes tasks of the kinds that turned out to be possible. */
export interface TaskMaker {
  /** Those of which a task could be made, single calls first. */
  readonly kinds: readonly GoalKind[]
  /** The task of training that showed that a kind is possible, for each trained kind. */
  readonly first: readonly McpTask[]
  readonly concurrency: number
  /** Task number `index` of a split; undefined if none of several drafts worked. The same number gives the same task. */
  make(split: Task['split'], index: number): Promise<McpTask | undefined>
}

interface MakerOptions {
  seed: number
  concurrency?: number | undefined
  /** Receives the first task of each kind as soon as it is proved. */
  onTask?: ((task: McpTask) => void) | undefined
  signal?: AbortSignal | undefined
}

/** Drafts of a task before another kind takes its turn. */
const draftsOfKind = 14
/** Plans that are run to find out whether a kind is possible. */
const trialRuns = 10
/** Each plan of a join draws many calls, so a few plans tell whether one is possible. */
const joinTrials = 4
/** Kinds of training. */
const mostKinds = 24

/** A guess is right in more than a tenth of such tasks. */
export function isGuessable({ chance }: Pick<GoalKind, 'chance'>): boolean {
  return chance > 0.1
}

/** Tries each kind of task, and keeps those of which one can be made and proved. */
export async function prepareMaker(
  system: ToolSystem,
  probe: Probe,
  { seed, concurrency = 8, onTask, signal }: MakerOptions,
): Promise<TaskMaker> {
  const speech = speechOf(system.offered.map(({ spec }) => spec))
  const options = signal === undefined ? {} : { signal }
  const sources = { ...probe, initialStates: createInitialStates(system, probe, seed, options) }
  const plans = createPlanSplits(system, sources, seed, options)

  async function tryOnce(
    kind: GoalKind,
    combination: Combination,
    split: Task['split'],
    index: number,
    attempt: number,
    runs = { count: 0 },
  ): Promise<McpTask | undefined> {
    const random = createRandom(seed, 'goal', kind.name, splitKey(split), index, attempt)
    try {
      const draft = await draftGoal(system, kind, combination, split, sources, random, options)
      if (draft === undefined || !plans.belongs(kind, draft, split)) return undefined
      runs.count++
      const id = `${system.name}/${split}/${index < 0 ? `first-${-index}` : index}`
      return await makeGoalTask(
        system,
        speech,
        { kind, combination, draft, split, random, id, index },
        options,
      )
    } catch (error) {
      if (signal?.aborted === true) throw error
      if (!(error instanceof UnusableSchema) && !(error instanceof InfrastructureError)) throw error
      return undefined
    }
  }

  function hasRecords(tool: string): boolean {
    const texts = examplesOf(tool).map(({ text }) => compactResult(text, system.resultLimit))
    // An empty list, or a result that was cut, may show records in another state.
    const mayShow = (text: string): boolean =>
      /\[\]/.test(text) || text.endsWith('…') || tablesIn(readResult(text), '').length > 0
    return texts.length === 0 || texts.some(mayShow)
  }

  const examplesOf = (tool: string): readonly ToolExample[] =>
    probe.profiles.find(({ name }) => name === tool)?.examples ?? []

  const candidates = goalKinds(probe.kinds, {
    hasRecords,
    takesStatements: (tool) =>
      examplesOf(tool).some(({ arguments: args }) =>
        Object.values(args).some((value) => typeof value === 'string' && statementStart.test(value)),
      ),
  })
  let next = 0
  const trials: (McpTask | undefined)[] = candidates.map(() => undefined)
  const work = async (): Promise<void> => {
    while (next < candidates.length) {
      const at = next++
      const kind = candidates[at]
      await plans.deal(kind)
      const combinations = combinationsFor(kind, 'train')
      const runs = { count: 0 }
      // Half of the plans belong to other splits, and some draws have no plan, so there are more draws than runs.
      const draws = kind.build === 'join' ? joinTrials : 4 * trialRuns
      for (let draw = 0; draw < draws && runs.count < trialRuns && trials[at] === undefined; draw++) {
        const random = createRandom(seed, 'trial', kind.name, draw)
        trials[at] = await tryOnce(kind, random.pick(combinations), 'train', -1 - at, draw, runs)
      }
      const task = trials[at]
      if (task !== undefined) onTask?.(task)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  const tried = candidates.filter((_, at) => trials[at] !== undefined)
  const hollow = await findHollow(system, tried, tryOnce, options)
  for (const name of hollow)
    probe.leftOut.push({ name, reason: 'it makes the same change whatever its arguments are' })
  const possible = candidates.flatMap((kind, at) => {
    const task = trials[at]
    if (task === undefined || hollow.has(kind.name)) return []
    // A request to repeat something states its answer, which can then be given without the tool.
    const stated = task.context['stated'] === true
    return [stated ? { ...kind, chance: Math.max(kind.chance, 0.2) } : kind]
  })
  const sure = possible.filter((kind) => !isGuessable(kind)).slice(0, mostKinds)
  // Training draws kinds evenly, so those that can be guessed are at most about a tenth of the kinds too.
  const guesses = possible
    .filter(isGuessable)
    .slice(0, sure.length === 0 ? mostKinds : Math.max(1, Math.round(sure.length / 8)))
  // The longest plans are only tested. With few kinds nothing is held out, and they are left out.
  const kinds = holdOutOne([...sure, ...guesses]).filter(
    ({ name, heldOut }) => heldOut || name !== longestKind,
  )
  const trained = kinds.filter((kind) => !kind.heldOut)
  const usual = trained.filter((kind) => !isGuessable(kind))
  const guessable = trained.filter(isGuessable)
  const held = kinds.filter((kind) => kind.heldOut)

  /** Kinds take turns. Every tenth task is of a kind that can be guessed; every twentieth test is of one never trained. */
  function kindAt(split: Task['split'], index: number, later: number): GoalKind {
    const tests = split === 'test' || split === 'unseen-paraphrase'
    if (usual.length === 0) return trained[(index + later) % trained.length]
    if (later === 0 && guessable.length > 0 && index % 11 === 10)
      return guessable[Math.floor(index / 11) % guessable.length]
    if (later === 0 && held.length > 0 && tests && index % 20 === 13)
      return held[Math.floor(index / 20) % held.length]
    return usual[(index - Math.floor((index + 1) / 11) + later) % usual.length]
  }

  const names = new Set(trained.map(({ name }) => name))
  return {
    kinds,
    first: trials.flatMap((task) => (task !== undefined && names.has(task.kind) ? [task] : [])),
    concurrency,
    async make(split, index) {
      for (let attempt = 0; attempt < 3 * draftsOfKind; attempt++) {
        const kind = kindAt(split, index, Math.floor(attempt / draftsOfKind))
        const random = createRandom(seed, 'combination', kind.name, splitKey(split), index, attempt)
        const combination = random.pick(combinationsFor(kind, split))
        const task = await tryOnce(kind, combination, split, index, attempt)
        if (task !== undefined) return task
      }
      return undefined
    },
  }
}

/**
 * With eight kinds or more, one that nobody can guess is only tested: the longest sequences, or else the last. Training
 * never has anything of that kind.
 */
function holdOutOne(kinds: readonly GoalKind[]): GoalKind[] {
  if (kinds.length < 8) return [...kinds]
  const some = kinds.filter(
    (kind) => !isGuessable(kind) && (kind.combinations.length > 1 || kind.form === 'most'),
  )
  const name = (some.find((kind) => kind.name === longestKind) ?? some.at(-1))?.name
  return kinds.map((kind) => (kind.name === name ? { ...kind, heldOut: true } : kind))
}
