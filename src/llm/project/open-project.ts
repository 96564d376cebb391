import { resolve } from 'node:path'
import type { FileTask } from '../environment/mcp/goals/task-file.ts'
import { type AgogeConfig, checkConfig } from './config.ts'
import { createTrialEndpoints } from './endpoint.ts'
import type { OpenedEnvironment } from './environment.ts'
import type { Journal } from './journal.ts'
import { type OpenedJudges, openJudges } from './judging/judges.ts'
import { openModels, type OpenedModel } from './models.ts'
import { configuredEnvironment, readTasks } from './prepare.ts'
import type { TrialSettings } from './run-trial.ts'
import { openSetupModels, setupOf } from './setup-models.ts'
import { trialSettings } from './run-trials.ts'

/** Settings of `withProject`. */
export interface ProjectOptions {
  /** Where paths and packages of the config are looked up. Default: the current folder. */
  folder?: string | undefined
  /** Called with what may be called on a server, before the first call. If it rejects, none is made. */
  onPlan?: ((plan: string, needsConsent: boolean) => Promise<void>) | undefined
  signal?: AbortSignal | undefined
  /** Whether the models of the config are opened. Default: true. */
  opensModels?: boolean
  /** Whether trained models that the setup of the config names are opened. Default: true. */
  opensSetup?: boolean
}

/** What a config names, opened. */
export interface Project {
  root: string
  tasks: readonly FileTask[]
  models: readonly OpenedModel[]
  judges: OpenedJudges
  /** Opens the environment, and proves the tasks in it. Returns those that cannot be used, with the reason. */
  prove: () => Promise<readonly { id: string; reason: string }[]>
  environment: () => Promise<OpenedEnvironment | undefined>
  /** What trials share. */
  settings: (journal: Journal, given?: SettingsOptions) => Promise<TrialSettings>
}

/** What the settings of trials depend on besides the config. */
export interface SettingsOptions {
  /** Default: that of the project. */
  config?: AgogeConfig
  /** The columns that are compared. Default: the names of the models. */
  names?: readonly string[]
  /** The file in which judgements are shared with other evaluations. Default: none. */
  shared?: string | undefined
}

/**
 * Opens the tasks, models, judges and, when it is needed, the environment of a config, and closes them after `use`.
 *
 * @throws AgogeError for a config, tasks or models that cannot be used.
 */
export async function withProject<T>(
  config: AgogeConfig,
  { folder = '.', onPlan, signal, opensModels = true, opensSetup = true }: ProjectOptions,
  use: (project: Project) => Promise<T>,
): Promise<T> {
  checkConfig(config)
  const root = resolve(folder)
  const configured = configuredEnvironment(config, root, { onPlan, signal })
  const endpoints = createTrialEndpoints()
  const closing: (() => Promise<void>)[] = [configured.close, endpoints.close]
  try {
    const tasks = await readTasks(config, root, configured, { onPlan, signal })
    const models = opensModels ? await openModels(config, root) : []
    closing.push(...models.map(({ dispose }) => dispose))
    const setup = opensSetup ? setupOf(config, root) : undefined
    const further = setup === undefined ? [] : await openSetupModels(setup, config, root)
    closing.push(...further.map(({ dispose }) => dispose))
    const judges = await openJudges(config, root, models)
    closing.push(judges.dispose)
    return await use({
      root,
      tasks,
      models,
      judges,
      environment: configured.open,
      prove: async () => (await (await configured.open())?.prepare(tasks)) ?? [],
      settings: async (journal, { config: own = config, names, shared } = {}) =>
        trialSettings(own, {
          journal,
          environment: await configured.open(),
          models: [...models, ...further],
          judges,
          endpoints,
          names: names ?? models.map(({ name }) => name),
          shared,
          root,
          signal,
        }),
    })
  } finally {
    for (const close of closing) await close()
  }
}
