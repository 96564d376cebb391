import { createRandom, hash32 } from '../../../../engine/random/index.ts'
import type { Task } from '../../../agent/types.ts'
import { splitKey } from '../../../episode/split.ts'
import { InfrastructureError } from '../../../tool/tool.ts'
import { UnusableSchema } from '../arguments/schema-parts.ts'
import type { McpTask } from '../mcp-task.ts'
import type { Probe } from '../profile/tool-probing.ts'
import { newState } from '../server/state-pool.ts'
import { compactResult } from '../salient.ts'
import { speechOf } from '../request/step-words.ts'
import type { ToolSystem } from '../tool-system.ts'
import { draftGoal, type GoalDraft, planKey } from './draft-goal.ts'
import { combinationsFor, goalKinds, longestKind, type Combination, type GoalKind } from './kinds.ts'
import { makeGoalTask } from './make-task.ts'
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
/** Tasks by which a kind is checked for changes that do not depend on what is asked. */
const hollowTrials = 4
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
  const few = new Map<string, Map<string, Task['split']> | undefined>()

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
      const draft = await draftGoal(system, kind, combination, split, probe, random, options)
      if (draft === undefined || !belongs(kind, draft, split)) return undefined
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

  /** Plans, arguments and initial states belong to one split each. */
  function belongs(kind: GoalKind, draft: GoalDraft, split: Task['split']): boolean {
    const key = planKey(draft)
    const own = few.get(kind.name)?.get(key) ?? splitOfPlan(key)
    return own === (split === 'unseen-paraphrase' ? 'test' : split)
  }

  /** Where a kind has only a few different plans, they are dealt out, so that training gets at least one. */
  async function dealFew(kind: GoalKind): Promise<void> {
    const [combination] = kind.combinations
    if (kind.combinations.length > 1 || !['changes', 'question', 'chain'].includes(kind.build)) return
    const keys = new Set<string>()
    for (let draw = 0; draw < 40 && keys.size <= 8; draw++) {
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
    if (keys.size > 8) return
    const sorted = [...keys].toSorted((a, b) => hash32('few', a) - hash32('few', b))
    const turns = ['train', 'test', 'train', 'validation'] as const
    few.set(kind.name, new Map(sorted.map((key, at) => [key, turns[at % turns.length]])))
  }

  function hasRecords(tool: string): boolean {
    const examples = probe.profiles.find(({ name }) => name === tool)?.examples ?? []
    const texts = examples.map(({ text }) => compactResult(text, system.resultLimit))
    // An empty list, or a result that was cut, may show records in another state.
    const mayShow = (text: string): boolean =>
      /\[\]/.test(text) || text.endsWith('…') || tablesIn(readResult(text), '').length > 0
    return texts.length === 0 || texts.some(mayShow)
  }

  const alsoReads = (tool: string): boolean =>
    (probe.profiles.find(({ name }) => name === tool)?.examples ?? []).some(({ arguments: args, text }) => {
      const reads = Object.values(args).some((value) => typeof value === 'string' && /^SELECT\b/i.test(value))
      return reads && text !== ''
    })

  /**
   * Kinds with one writing tool that makes the same change whatever is asked of it, such as a folder at its first call. They
   * are reported as left out.
   */
  async function findHollow(): Promise<ReadonlySet<string>> {
    const found = new Set<string>()
    for (const [at, kind] of candidates.entries()) {
      if (trials[at] === undefined || kind.build !== 'changes' || kind.combinations.length > 1) continue
      const tasks: McpTask[] = []
      for (let draw = 0; draw < 3 * hollowTrials && tasks.length < hollowTrials; draw++) {
        const task = await tryOnce(kind, kind.combinations[0], 'train', -1000 - draw, draw)
        if (task !== undefined) tasks.push(task)
      }
      const different = new Set(tasks.map(({ reference }) => JSON.stringify(reference))).size
      if (different < 2 || !(await eachSolvesAll(tasks))) continue
      found.add(kind.name)
      probe.leftOut.push({ name: kind.name, reason: 'it makes the same change whatever its arguments are' })
    }
    return found
  }

  /** Whether each task ends in its state after the calls of the next one. */
  async function eachSolvesAll(tasks: readonly McpTask[]): Promise<boolean> {
    for (const [at, { seeds, expected }] of tasks.entries()) {
      const { reference = [] } = tasks[(at + 1) % tasks.length]
      const state = newState(seeds)
      try {
        for (const { name, arguments: args } of reference) await system.call(state, name, args, options)
        if ((await system.observe(state, signal)) !== expected.state) return false
      } catch (error) {
        if (signal?.aborted === true || !(error instanceof InfrastructureError)) throw error
        return false
      }
    }
    return true
  }

  const candidates = goalKinds(probe.kinds, { hasRecords, alsoReads })
  let next = 0
  const trials: (McpTask | undefined)[] = candidates.map(() => undefined)
  const work = async (): Promise<void> => {
    while (next < candidates.length) {
      const at = next++
      const kind = candidates[at]
      await dealFew(kind)
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
  const hollow = await findHollow()
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

/** Half of all plans are for training, a quarter for validation, a quarter for test and unseen wording. */
function splitOfPlan(key: string): Task['split'] {
  const bucket = hash32('mcp-plan', key) % 4
  return bucket < 2 ? 'train' : bucket === 2 ? 'validation' : 'test'
}
