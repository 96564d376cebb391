import type { EpisodeLimits } from '../agent/episode-state.ts'
import type { TaskSource, ToolEnvironment } from '../agent/types.ts'
import type { Reward } from '../reward/reward.ts'
import type { Adventure } from './adventure/adventure.ts'
import type { DefinedToolEnvironment } from './definition/define-tool-environment.ts'

/** Options for opening an environment. */
export interface EnvironmentChoices {
  signal?: AbortSignal
  /** Reports slow steps, one sentence each. */
  onNotice?: (text: string) => void
  /** Kinds of questions to draw, and their levels from 1 on. Default: all. */
  task?: readonly string[] | undefined
  difficulty?: readonly number[] | undefined
}

/** An opened environment with its tasks and its training defaults. */
export interface OpenedEnvironment {
  environment: ToolEnvironment
  tasks: TaskSource
  /** Demonstrations for each kind of task in the warm start. */
  demonstrations: Readonly<Record<string, number>>
  limits?: Partial<EpisodeLimits>
  /** Default: success minus a small cost for each call. */
  reward?: Reward
  training?: {
    warmStart?: { epochs: number; validateEvery: number }
    reinforcement?: { learningRate?: number; steps?: number; validateEvery?: number; keep?: 'best' | 'last' }
    maxTokensPerTurn?: number
    /** Tasks of each validation. */
    validation?: number
  }
}

export interface CatalogueEntry {
  /** One line for lists. */
  about: string
  /** Options of the command line that only this environment has. */
  options?: readonly ('task' | 'difficulty')[]
  open: (choices: EnvironmentChoices) => Promise<OpenedEnvironment>
  /** The environment as a text game that a person can play with `agoge play`. */
  game?: (options: { seed: number }) => Promise<Adventure>
}

/**
 * The environments of language-model agents by name. `agoge train`, `eval`, `chat`, `envs`, help and errors all read
 * this list. An environment's code is loaded when it is opened.
 */
export const toolEnvironments: Readonly<Record<string, CatalogueEntry>> = {
  filesystem: {
    about: 'look after files through the official filesystem MCP server',
    async open({ signal, onNotice }) {
      const { createFilesystemEnvironment } = await import('./filesystem/environment.ts')
      const { filesystemDemonstrations, filesystemTasks } = await import('./filesystem/tasks.ts')
      const environment = await createFilesystemEnvironment({
        ...(signal && { signal }),
        ...(onNotice && { onNotice }),
      })
      const training = { validation: 210 }
      return { environment, tasks: filesystemTasks, demonstrations: filesystemDemonstrations, training }
    },
  },
  reasoning: {
    about: 'questions that a program checks, without tools',
    options: ['task', 'difficulty'],
    open: async (choices) => (await import('./reasoning/environment.ts')).openReasoning(choices),
  },
  adventure: {
    about: 'a text adventure: rooms, things, perhaps a locked door, and one quest',
    open: async () => openDefinition((await import('./adventure/tool-environment.ts')).adventureEnvironment),
    game: async (options) => (await import('./adventure/adventure.ts')).createAdventure(options),
  },
}

/** Demonstrations over all kinds, if the definition gives no number. */
const usualDemonstrations = 400

/** Opens an environment made by `defineToolEnvironment`. */
export async function openDefinition(definition: DefinedToolEnvironment): Promise<OpenedEnvironment> {
  const { tasks, limits, reward, demonstrations } = definition
  const each = demonstrations ?? Math.ceil(usualDemonstrations / tasks.kinds.length)
  return {
    environment: await definition.create(),
    tasks,
    demonstrations:
      typeof each === 'number' ? Object.fromEntries(tasks.kinds.map((kind) => [kind, each])) : each,
    ...(limits && { limits }),
    ...(reward && { reward }),
  }
}

/** True if the value was made by `defineToolEnvironment`, also by another copy of the package. */
export function isToolEnvironmentDefinition(value: unknown): value is DefinedToolEnvironment {
  return (
    typeof value === 'object' &&
    value !== null &&
    'create' in value &&
    typeof value.create === 'function' &&
    'tasks' in value
  )
}
