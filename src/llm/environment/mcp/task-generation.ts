import { defined } from '../../../defined.ts'
import { readScore } from '../../episode/score.ts'
import type { Task, TaskSource } from '../../agent/types.ts'
import { AgogeError } from '../../../error.ts'
import { InfrastructureError } from '../../tool/tool.ts'
import { createRandom } from '../../../engine/random/index.ts'
import { draftTask, type KindPlan, type McpTask } from './mcp-task.ts'
import type { Probe } from './profile/tool-probing.ts'
import { referenceExpert, runReference } from './reference.ts'
import { renderRequest } from './request.ts'
import { tellsMoment } from './profile/repeatable.ts'
import { listReasons } from './safety.ts'
import { answerMatches, chooseSalient, extractSalient, otherValues } from './salient.ts'
import { UnusableSchema } from './arguments/schema-parts.ts'
import { createSystemEnvironment, type ToolSystem } from './tool-system.ts'

/** Splits in the order in which they are made. */
const splits = ['train', 'validation', 'test', 'unseen-wording'] as const

/** Number of tasks to make for each split. */
export type TaskCounts = Partial<Record<Task['split'], number>>

export interface TaskGenerationOptions {
  seed: number
  counts: TaskCounts
  /** Reference solutions that run at the same time. Default: 8. */
  concurrency?: number
  /** Seconds that a call may take; slower tools are left out. Default: 3. */
  deadlineSeconds?: number | undefined
  /** Advice in the error if no task can be made. Default: none. */
  hint?: string | undefined
  onProgress?: (done: number, total: number) => void
  signal?: AbortSignal | undefined
}

export interface GeneratedTasks extends TaskSource<McpTask> {
  heldOut(split: Task['split'], count: number): McpTask[]
  /** All tasks of a split. */
  all(split: Task['split']): readonly McpTask[]
  /** Kinds without a task in a split, although enough tasks were requested for all kinds. */
  readonly missing: readonly { split: Task['split']; kinds: readonly string[] }[]
}

/**
 * Makes tasks and checks each. Its reference solution runs in a fresh state, which gives the expected result. Then its
 * plan runs again as an agent would run it, and must succeed. The same seed on the same system gives the same tasks.
 * Test, validation and unseen-wording contain no request twice and none from training, so a kind with few requests may
 * have none left for them.
 *
 * @throws AgogeError if no tool can be used in a task, or a split other than unseen-wording is empty.
 */
export async function generateTasks(
  system: ToolSystem,
  probe: Probe,
  options: TaskGenerationOptions,
): Promise<GeneratedTasks> {
  const { kinds } = probe
  if (kinds.length === 0) {
    const reasons = listReasons(probe.leftOut)
    throw new AgogeError(`no task can be made from the tools of "${system.name}"\n${reasons}`, {
      code: 'no-tasks',
      given: probe.leftOut.map(({ name }) => name).join(', '),
      expected: 'at least one tool whose arguments can be made up and whose result is short and repeatable',
      ...defined({ hint: options.hint }),
    })
  }
  const total = Object.values(options.counts).reduce((sum, count) => sum + count, 0)
  const bank = new Map<Task['split'], McpTask[]>()
  const taken = new Set<string>()
  let before = 0
  // In the order of the splits, so that training keeps a request that two splits would share.
  for (const split of splits) {
    const count = options.counts[split] ?? 0
    const tasks: McpTask[] = []
    bank.set(split, tasks)
    // Duplicate requests are replaced by further draws. If no new ones exist, the split has fewer tasks.
    for (let from = 0; tasks.length < count && from < 4 * count;) {
      const size = Math.max(count - tasks.length, 8)
      const round = await makeTasks(system, probe, split, from, size, options, (done) =>
        options.onProgress?.(Math.min(before + tasks.length + done, total), total),
      )
      from += size
      for (const task of round) {
        if (task === undefined || tasks.length === count) continue
        if (split !== 'train' && taken.has(task.prompt)) continue
        tasks.push(task)
        taken.add(task.prompt)
      }
    }
    before += count
  }
  const wanted = splits.filter((split) => (options.counts[split] ?? 0) > 0)
  for (const split of wanted)
    if (split !== 'unseen-wording' && bank.get(split)?.length === 0)
      throw noTasks(system, split, options.hint)
  const kindsIn = (split: Task['split']): string[] => {
    const found = new Set(bank.get(split)?.map((task) => task.kind))
    return kinds.map(({ name }) => name).filter((name) => found.has(name))
  }
  // Only trained kinds are tested; without training, all kinds are.
  const present = wanted.includes('train')
    ? kindsIn('train')
    : kinds.map(({ name }) => name).filter((name) => wanted.some((split) => kindsIn(split).includes(name)))
  return {
    kinds: present,
    missing: wanted
      // With fewer tasks than kinds some kinds are left out by intention.
      .filter((split) => (options.counts[split] ?? 0) >= kinds.length)
      .map((split) => ({ split, found: kindsIn(split) }))
      .map(({ split, found }) => ({
        split,
        kinds: kinds.map(({ name }) => name).filter((name) => !found.includes(name)),
      }))
      .filter(({ kinds }) => kinds.length > 0),
    all: (split) => bank.get(split) ?? [],
    heldOut: (split, count) => inTurn(present, bank.get(split) ?? []).slice(0, count),
    task({ split, seed, kind }) {
      const tasks = (bank.get(split) ?? []).filter((task) => kind === undefined || task.kind === kind)
      if (tasks.length === 0) {
        throw new AgogeError(
          `no ${split} task${kind === undefined ? '' : ` of the kind "${kind}"`} was made`,
          {
            code: 'no-tasks',
            given: kind ?? split,
            expected: `one of the kinds ${present.join(', ')}`,
          },
        )
      }
      return tasks[((seed % tasks.length) + tasks.length) % tasks.length]
    },
  }
}

/** Interleaves the tasks by kind. A kind that has no more leaves its turns to the others. */
function inTurn(kinds: readonly string[], tasks: readonly McpTask[]): McpTask[] {
  const rows = kinds.map((kind) => tasks.filter((task) => task.kind === kind))
  const most = Math.max(0, ...rows.map((row) => row.length))
  return Array.from({ length: most }, (_, at) => rows.flatMap((row) => row.slice(at, at + 1))).flat()
}

function noTasks(system: ToolSystem, split: Task['split'], hint: string | undefined): AgogeError {
  return new AgogeError(`no ${split} task could be made from the tools of "${system.name}"`, {
    code: 'no-tasks',
    given:
      split === 'train'
        ? 'no request that could be proved'
        : 'every request that was found is one of training too',
    expected: 'tools whose arguments leave room for different requests',
    ...defined({ hint }),
  })
}

/**
 * Makes tasks number `from` to `from + size` of a split, several at a time. The result does not depend on how many run
 * at a time.
 */
async function makeTasks(
  system: ToolSystem,
  probe: Probe,
  split: Task['split'],
  from: number,
  size: number,
  options: TaskGenerationOptions,
  onDone: (done: number) => void,
): Promise<(McpTask | undefined)[]> {
  const made: (McpTask | undefined)[] = Array.from({ length: size })
  let next = 0
  let done = 0
  const work = async (): Promise<void> => {
    while (next < size) {
      const at = next++
      made[at] = await makeTask(system, probe, split, from + at, options)
      onDone(++done)
    }
  }
  await Promise.all(Array.from({ length: options.concurrency ?? 8 }, work))
  return made
}

/** A checked task, or undefined if none of several drafts worked. */
async function makeTask(
  system: ToolSystem,
  probe: Probe,
  split: Task['split'],
  index: number,
  options: TaskGenerationOptions,
): Promise<McpTask | undefined> {
  for (let attempt = 0; attempt < 16; attempt++) {
    const random = createRandom(options.seed, 'task', split, index, attempt)
    // Kinds take turns. If one fails, the next kind takes its place.
    const kind = probe.kinds[(index + Math.floor(attempt / 8)) % probe.kinds.length]
    try {
      const task = await proveTask(system, probe, kind, split, index, random, options)
      if (task !== undefined) return task
    } catch (error) {
      if (options.signal?.aborted === true) throw error
      if (!(error instanceof UnusableSchema) && !(error instanceof InfrastructureError)) throw error
    }
  }
  return undefined
}

async function proveTask(
  system: ToolSystem,
  probe: Probe,
  kind: KindPlan,
  split: Task['split'],
  index: number,
  random: ReturnType<typeof createRandom>,
  options: TaskGenerationOptions,
): Promise<McpTask | undefined> {
  const draft = draftTask(kind, split, probe, random)
  const run = await runReference(system, draft, { signal: options.signal })
  if (!run.ok) return undefined
  const reads = kind.tools[kind.tools.length - 1].kind === 'read'
  const last = run.results[run.results.length - 1]
  const stated = JSON.stringify(draft.steps.map((step) => step.arguments))
  const tells = (text: string, step: number): boolean =>
    kind.tools[step].kind === 'read' && tellsMoment(text, stated)
  if (run.results.some(tells)) return undefined
  const salient = reads ? chooseSalient(last, stated, random, system.ignore) : undefined
  if (reads && salient === undefined) return undefined
  const answer = salient === undefined ? null : (extractSalient(last, salient) ?? '')
  const changes = kind.tools.some((tool) => tool.kind === 'write')
  const many = /"another |\},\{/.test(stated)
  const task: McpTask = {
    id: `${system.name}/${split}/${index}`,
    kind: kind.name,
    seed: index,
    split,
    prompt: renderRequest(draft.steps, salient, split, random),
    difficulty: Math.min(4, draft.steps.length + (many ? 1 : 0)),
    context: { tools: draft.steps.map((step) => step.tool), changes },
    plan: referenceExpert(draft, run.links, salient),
    seeds: draft.seeds,
    expected: {
      answer,
      others: answer === null ? [] : otherValues(last, answer, system.ignore),
      state: run.after,
    },
  }
  return (await provesItself(system, task, options.signal)) ? task : undefined
}

/** Runs the plan as an agent would and asks the judge. An empty answer must not pass. */
async function provesItself(system: ToolSystem, task: McpTask, signal?: AbortSignal): Promise<boolean> {
  const session = await createSystemEnvironment(system).open(task, signal === undefined ? {} : { signal })
  const results: { text: string; isError: boolean }[] = []
  for (let turn = 0; turn < 8; turn++) {
    const move = task.plan(results)
    if ('answer' in move) {
      if (task.expected.answer !== null && answerMatches('', task.expected.answer)) return false
      const outcome = { answer: move.answer, calls: results.length, invalidCalls: 0 }
      return readScore(await session.judge(outcome), task.id).value === 1
    }
    const result = await session.call(move.call.name, move.call.arguments)
    results.push({ text: result.text, isError: result.isError })
  }
  return false
}
