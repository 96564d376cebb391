import type { EpisodeLimits } from '../agent/episode-state.ts'
import type { TaskSource, ToolEnvironment } from '../agent/types.ts'
import type { Reward } from '../reward/reward.ts'
import type { Adventure } from './adventure/adventure.ts'
import type { DefinedToolEnvironment } from './definition/define-tool-environment.ts'

/** What an environment may be asked for when it is opened. */
export interface EnvironmentChoices {
  signal?: AbortSignal
  /** Is given what takes a while, in a sentence. */
  onNotice?: (text: string) => void
  /** Kinds of questions, and their levels from 1 on. */
  task?: readonly string[] | undefined
  difficulty?: readonly number[] | undefined
}

/** An environment with its tasks, and what differs from the usual way of training. */
export interface OpenedEnvironment {
  environment: ToolEnvironment
  tasks: TaskSource
  /** Of each kind of task, in the warm start. */
  demonstrations: Readonly<Record<string, number>>
  limits?: Partial<EpisodeLimits>
  /** Default: success, less small costs of calls. */
  reward?: Reward
  training?: {
    warmStart: { epochs: number; validateEvery: number }
    reinforcement: { learningRate: number; steps: number }
    maxTokensPerTurn: number
  }
}

export interface CatalogueEntry {
  /** One line for lists. */
  about: string
  /** Options of the command line that this environment alone has. */
  options?: readonly ('task' | 'difficulty')[]
  open: (choices: EnvironmentChoices) => Promise<OpenedEnvironment>
  /** The same as a game of texts, which a person plays with `agoge play`. */
  game?: (options: { seed: number }) => Promise<Adventure>
}

/**
 * The environments of language-model agents by name: the one list from which `agoge train`, `eval`, `chat`, `envs`, help and errors take
 * them. What an environment needs is loaded when it is opened.
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
      return { environment, tasks: filesystemTasks, demonstrations: filesystemDemonstrations }
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

/** Demonstrations of a definition that does not say how many, over all its kinds. */
const usualDemonstrations = 400

/** Opens an environment that was defined in one value. */
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

/** Whether what a module exports is an environment made by `defineToolEnvironment`, of whichever copy of the package. */
export function isToolEnvironmentDefinition(value: unknown): value is DefinedToolEnvironment {
  return (
    typeof value === 'object' &&
    value !== null &&
    'create' in value &&
    typeof value.create === 'function' &&
    'tasks' in value
  )
}
