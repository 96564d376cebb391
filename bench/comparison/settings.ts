import { createFilesystemEnvironment, filesystemTasks, openMcpEnvironment, smallModelPlan } from 'agoge/llm'
import type { Task, TaskSource, ToolEnvironment, TrainingPlan } from 'agoge/llm'
import { fileURLToPath } from 'node:url'
import type { Mixture } from './arms.ts'
import { chainTasks } from './chains.ts'

export type SettingName = 'filesystem' | 'memory' | 'chains'

/** An environment with the tasks of one seed. */
export interface OpenedSetting {
  environment: ToolEnvironment
  /** Kinds that are trained. Its held-out tasks of validation are those of this seed. */
  training: TaskSource
  /** What every arm of the seed is tested on. */
  tests: { known: Task[]; paraphrased: Task[]; heldOutKinds: Task[] }
  plan: Pick<TrainingPlan, 'limits' | 'maxTokensPerTurn'>
}

type TaskCounts = Record<'validation' | 'known' | 'paraphrased' | 'heldOutKinds', number>

export interface Setting {
  name: SettingName
  about: string
  /** Reported seeds, and those that choose settings. Their tasks differ. */
  seeds: readonly number[]
  tuningSeeds: readonly number[]
  /** Kinds without a demonstration and in no training of any arm. */
  heldOutKinds: readonly string[]
  /** Tasks of each kind. */
  counts: TaskCounts
  /** Demonstrations per kind that the warm start may have, fewest first. */
  warmStarts: readonly number[]
  /** Computed tokens of each arm. */
  budget: number
  /** With the kinds of `chains` no mixture is tried: they differ in length alone. */
  mixtures: readonly Mixture[]
  validations: number
  open(seed: number, counts: TaskCounts): Promise<OpenedSetting>
}

const from = (first: number, count: number): number[] => Array.from({ length: count }, (_, at) => first + at)

/** Disjoint from the held-out tasks of every other study, and the same for no two seeds. */
const firstOfRound = (seed: number): number => 20_000_000 + 10_000 * seed

/** Tasks of one seed, the same number of each kind. */
function roundOf(
  source: TaskSource,
  {
    seed,
    split,
    kinds,
    each,
  }: { seed: number; split: Task['split']; kinds: readonly string[]; each: number },
): Task[] {
  return Array.from({ length: each * kinds.length }, (_, at) =>
    source.task({ split, seed: firstOfRound(seed) + at, kind: kinds[at % kinds.length] }),
  )
}

/** A source with some of the kinds, whose held-out tasks are those of one seed. */
function restricted(source: TaskSource, kinds: readonly string[], validation: readonly Task[]): TaskSource {
  return {
    kinds,
    task: (options) => source.task({ ...options, kind: options.kind ?? kinds[options.seed % kinds.length] }),
    // All that are asked for: every arm validates on the same tasks, also where a phase would take the next ones.
    heldOut: (split, count) => (split === 'validation' ? validation.slice(0, count) : []),
  }
}

function openGenerated(
  source: TaskSource,
  { seed, counts, heldOutKinds }: { seed: number; counts: TaskCounts; heldOutKinds: readonly string[] },
): Pick<OpenedSetting, 'training' | 'tests'> {
  const kinds = source.kinds.filter((kind) => !heldOutKinds.includes(kind))
  const round = (split: Task['split'], kinds: readonly string[], each: number): Task[] =>
    roundOf(source, { seed, split, kinds, each })
  return {
    training: restricted(source, kinds, round('validation', kinds, counts.validation)),
    tests: {
      known: round('test', kinds, counts.known),
      paraphrased: round('unseen-paraphrase', kinds, counts.paraphrased),
      heldOutKinds: round('test', heldOutKinds, counts.heldOutKinds),
    },
  }
}

const filesystem: Setting = {
  name: 'filesystem',
  about: 'the main job: the official filesystem server, tasks of one to four calls',
  seeds: from(201, 10),
  tuningSeeds: [301, 302],
  // Each consists of calls that trained kinds make in other combinations.
  heldOutKinds: ['copy', 'folder-then-write', 'find-and-move'],
  counts: { validation: 10, known: 20, paraphrased: 10, heldOutKinds: 20 },
  warmStarts: [24, 32, 48, 64],
  budget: 3_000_000,
  validations: 6,
  mixtures: ['common', 'own'],
  async open(seed, counts) {
    const environment = await createFilesystemEnvironment({ servers: 1 })
    const { limits, maxTokensPerTurn } = smallModelPlan
    return {
      environment: environment as unknown as ToolEnvironment,
      ...openGenerated(filesystemTasks, { seed, counts, heldOutKinds: filesystem.heldOutKinds }),
      plan: { limits, maxTokensPerTurn },
    }
  },
}

const chains: Setting = {
  name: 'chains',
  about: 'the filesystem server, several new folders: tasks of four to eight calls',
  seeds: from(201, 10),
  tuningSeeds: [301],
  heldOutKinds: ['8 calls'],
  counts: { validation: 20, known: 40, paraphrased: 20, heldOutKinds: 40 },
  warmStarts: [6, 12, 25, 50, 100],
  budget: 3_000_000,
  validations: 6,
  mixtures: ['common'],
  async open(seed, counts) {
    const environment = await createFilesystemEnvironment({ servers: 1 })
    const { limits, maxTokensPerTurn } = smallModelPlan
    return {
      environment: environment as unknown as ToolEnvironment,
      ...openGenerated(chainTasks, { seed, counts, heldOutKinds: chains.heldOutKinds }),
      plan: { limits: { ...limits, turns: 12, totalTokens: 1000 }, maxTokensPerTurn },
    }
  },
}

const memory: Setting = {
  name: 'memory',
  about:
    'the reference server with a knowledge graph, from the table of servers; tasks generated from its tools',
  seeds: from(201, 5),
  tuningSeeds: [301],
  // Longer than, or put together of, what trained kinds show. Of the second there are no training tasks at all.
  heldOutKinds: ['three or four changes', 'five or six changes', 'look up and read'],
  counts: { validation: 10, known: 20, paraphrased: 10, heldOutKinds: 20 },
  warmStarts: [8, 12, 16, 24, 32],
  budget: 3_000_000,
  validations: 6,
  mixtures: ['common', 'own'],
  async open(seed, counts) {
    const file = fileURLToPath(new URL('../../examples/mcp.json', import.meta.url))
    const environment = await openMcpEnvironment('memory', { file, sandbox: true })
    const { tasks } = await environment.prepareTasks({
      seed,
      counts: { train: 6000, validation: 400, test: 600, 'unseen-paraphrase': 400 },
    })
    const of = (split: Task['split'], kind: string): Task[] =>
      tasks.all(split).filter((task) => task.kind === kind)
    const few = (split: Task['split'], kinds: readonly string[], each: number): Task[] =>
      kinds.flatMap((kind) => of(split, kind).slice(0, each))
    const { heldOutKinds } = memory
    const trained = tasks.kinds.filter(
      (kind) =>
        !heldOutKinds.includes(kind) &&
        (['train', 'validation', 'test'] as const).every((split) => of(split, kind).length > 0),
    )
    const { limits } = smallModelPlan
    return {
      environment: environment as unknown as ToolEnvironment,
      training: restricted(tasks, trained, few('validation', trained, counts.validation)),
      tests: {
        known: few('test', trained, counts.known),
        paraphrased: few('unseen-paraphrase', trained, counts.paraphrased),
        heldOutKinds: few('test', heldOutKinds, counts.heldOutKinds),
      },
      // Calls with lists of entities are long, and six of them need eight turns.
      plan: { limits: { ...limits, turns: 8, tokensPerTurn: 192, totalTokens: 1000 }, maxTokensPerTurn: 192 },
    }
  },
}

export const settings: Readonly<Record<SettingName, Setting>> = { filesystem, memory, chains }
