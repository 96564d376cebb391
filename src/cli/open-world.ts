import type { Task, TaskSource, ToolWorld } from '../agent/index.ts'
import { AgogeError } from '../error.ts'
import { listServers, nearest, visibleBlock, visibleLine } from '../tool/index.ts'
import { heldOutTasks } from '../rollout/index.ts'
import { smallModelPlan } from '../training/defaults.ts'
import type { RewardFunction } from '../reward/index.ts'
import type { TrainingPlan } from '../training/index.ts'
import {
  createFilesystemWorld,
  filesystemDemonstrations,
  filesystemTasks,
} from '../worlds/filesystem/index.ts'
import { confirmPlan, fingerprintTasks, openMcpWorld } from '../worlds/mcp/index.ts'
import type { TaskCounts } from '../worlds/mcp/index.ts'
import type { Console } from './console.ts'
import { openAdventure } from './open-adventure.ts'
import { openReasoning } from './open-reasoning.ts'
import type { CallBudget } from './planned-calls.ts'
import { dashed } from './resumed-options.ts'

/** How a world is named on the command line; kept in `config.json`, so that `--resume` opens the same one. */
export interface WorldOptions {
  world: string
  mcpConfig?: string
  sandbox?: boolean
  allow?: string[]
  maxCalls?: number
  callsPerSecond?: number
  /** Of `reasoning` alone: names of families, and levels. */
  task?: string[]
  difficulty?: number[]
}

/** The part of a command's options that names its world. */
export function worldOptions(options: WorldOptions): WorldOptions {
  const { world, mcpConfig, sandbox, allow, maxCalls, callsPerSecond, task, difficulty } = options
  const given = Object.entries({
    mcpConfig,
    sandbox,
    allow,
    maxCalls,
    callsPerSecond,
    task,
    difficulty,
  })
  return { world, ...Object.fromEntries(given.filter(([, value]) => value !== undefined)) }
}

/** A world with tasks, and how a model is best trained on it. */
export interface OpenedWorld {
  world: ToolWorld
  tasks: TaskSource
  plan: TrainingPlan
  /** Default: success, less small costs of calls. */
  reward?: RewardFunction
  /** `count` tasks, all different. */
  heldOut: (split: Task['split'], count: number) => Task[]
  /** Only for a foreign server: its calls, the seal of the plan that was agreed to, and what identifies the tasks that were made. */
  calls?: CallBudget
  agreement?: string
  taskFingerprint?: string
}

/** Tasks of a training on a foreign server. */
export const trainingCounts: Required<TaskCounts> = {
  train: 800,
  validation: 96,
  test: 400,
  'unseen-wording': 96,
}

/** Tasks of a short training (`--quick`) on a foreign server, with so many for the test. */
export const quickCounts = (test: number): Required<TaskCounts> => ({
  train: 160,
  validation: 24,
  test: Math.min(test, trainingCounts.test),
  'unseen-wording': 0,
})

export interface OpeningOptions {
  seed: number
  /** The answer to the question after the plan of calls is given already. */
  yes?: boolean
  wanted?: TaskCounts
  /** A run that goes on: the seal of what was agreed to when it began; the same plan for the same server is not asked about again. */
  agreed?: string | undefined
}

/**
 * Opens `filesystem`, `reasoning`, `adventure` or `mcp:NAME`. A foreign server's plan of calls is shown first, and asked about where tools may run that do more
 * than read. Close `world` in the end.
 *
 * @throws AgogeError for a world that does not exist, a server that cannot be used, or a plan that was not confirmed.
 */
export async function openWorld(
  options: WorldOptions,
  opening: OpeningOptions,
  terminal: Console,
): Promise<OpenedWorld> {
  const { world: name } = options
  refuseOthersOptions(options)
  if (name === 'reasoning') return openReasoning(options)
  if (name === 'adventure') return openAdventure()
  if (name === 'filesystem') return openFilesystem(terminal)
  if (name.startsWith('mcp:')) return openServer(name.slice(4), options, opening, terminal)
  throw unknownWorld(options)
}

/** Options that one kind of world alone has, and what is said of them elsewhere. */
const ownOptions: readonly {
  names: readonly (keyof WorldOptions)[]
  of: (world: string) => boolean
  hint: string
}[] = [
  {
    names: ['task', 'difficulty'],
    of: (world) => world === 'reasoning',
    hint: 'They choose among the questions of the world "reasoning"',
  },
  {
    names: ['mcpConfig', 'sandbox', 'allow', 'maxCalls', 'callsPerSecond'],
    // A name that is of no world at all is told of as such.
    of: (world) => world.startsWith('mcp:') || !['filesystem', 'reasoning', 'adventure'].includes(world),
    hint: 'They are of a server that you configured: mcp:NAME',
  },
]

/** They are refused, not silently left out: `filesystem` is not the server of that name in a configuration. */
function refuseOthersOptions(options: WorldOptions): void {
  for (const { names, of, hint } of ownOptions) {
    const typed = names.filter((name) => options[name] !== undefined).map(dashed)
    if (typed.length === 0 || of(options.world)) continue
    throw new AgogeError(`${typed.join(', ')} means nothing for ${options.world}`, {
      code: 'bad-option',
      given: typed.join(' '),
      expected: 'options of this world',
      hint,
    })
  }
}

async function openFilesystem({ err, signal }: Console): Promise<OpenedWorld> {
  const world = await createFilesystemWorld({ signal, onNotice: (text) => err(text) })
  return {
    world,
    tasks: filesystemTasks,
    plan: { ...smallModelPlan, demonstrations: filesystemDemonstrations },
    heldOut: (split, count) => heldOutTasks(filesystemTasks, split, count),
  }
}

async function openServer(
  name: string,
  options: WorldOptions,
  { seed, yes = false, wanted = trainingCounts, agreed }: OpeningOptions,
  { err, signal }: Console,
): Promise<OpenedWorld> {
  const { mcpConfig: file, sandbox, allow, maxCalls, callsPerSecond } = options
  const slow = setTimeout(
    () =>
      err(`waiting for the MCP server "${name}" to start (npx and the like may have to download it first)`),
    3000,
  )
  const world = await openMcpWorld(name, {
    signal,
    ...(file === undefined ? {} : { file }),
    ...(sandbox === undefined ? {} : { sandbox }),
    ...(allow === undefined ? {} : { allow }),
    ...(maxCalls === undefined ? {} : { maxCalls }),
    ...(callsPerSecond === undefined ? {} : { callsPerSecond }),
  }).finally(() => clearTimeout(slow))
  try {
    const same = agreed !== undefined && world.isAgreed(agreed)
    if (agreed !== undefined && !same)
      err('The server, how it is started or the plan of its calls is another than when this run began.')
    if (world.needsConsent && !yes && !same) await confirmPlan(world.plan, { signal })
    else err(world.plan)
    const { tasks, leftOut, hint } = await world.prepareTasks({ seed, counts: wanted, signal })
    for (const { name: tool, reason } of leftOut)
      err(`left out: ${visibleLine(tool, 128)} (${visibleBlock(reason, '    ')})`)
    if (hint !== undefined) err(visibleBlock(hint, ''))
    for (const { split, families: without } of tasks.missing)
      err(
        `no ${split} tasks of ${without.join(', ')}: every request that was found is taken by another split`,
      )
    const { families } = tasks
    const { guard } = world
    const all = splits.flatMap((split) => tasks.all(split))
    return {
      world,
      tasks,
      plan: {
        ...smallModelPlan,
        demonstrations: Object.fromEntries(
          families.map((family) => [family, Math.ceil(400 / families.length)]),
        ),
      },
      heldOut: (split, count) => heldOutTasks(tasks, split, count),
      calls: {
        left: guard.maxCalls - guard.used().total,
        callsPerSecond: guard.callsPerSecond,
        perTask: all.reduce((sum, task) => sum + callsOf(task), 0) / all.length,
      },
      agreement: world.agreement(),
      taskFingerprint: fingerprintTasks(all),
    }
  } catch (error) {
    await world.close()
    throw error
  }
}

const splits = ['train', 'validation', 'test', 'unseen-wording'] as const

function callsOf(task: Task): number {
  const { tools } = task.context
  return Array.isArray(tools) ? tools.length : 1
}

/** The error for a name that no world has; `others` can be meant too. */
export function unknownWorld(
  { world: name, mcpConfig }: WorldOptions,
  others: readonly string[] = [],
): AgogeError {
  const { names } = listServers(mcpConfig === undefined ? {} : { file: mcpConfig })
  const known = ['filesystem', 'reasoning', 'adventure', ...names.map((server) => `mcp:${server}`), ...others]
  const meant = nearest(name, known) ?? known.find((world) => world === `mcp:${name}`)
  return new AgogeError(`There is no world named "${name}".`, {
    code: 'unknown-world',
    given: name,
    expected: `one of ${known.join(', ')}, or mcp:NAME for a server of your .mcp.json`,
    ...(meant === undefined ? {} : { hint: `Did you mean "${meant}"?` }),
  })
}
