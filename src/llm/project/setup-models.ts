import { resolve } from 'node:path'
import { checkSetup, readSetup, withCheckpointsIn, type AgentSetup } from '../setup/setup.ts'
import { type AgogeConfig, run } from './config.ts'
import { openModels, type OpenedModel } from './models.ts'

/** The setup of a config, with absolute folders of its trained models. @throws AgogeError `bad-setup`. */
export function setupOf({ setup }: AgogeConfig, root: string): AgentSetup | undefined {
  if (setup === undefined) return undefined
  return typeof setup === 'string'
    ? readSetup(resolve(root, setup))
    : withCheckpointsIn(checkSetup(setup), root)
}

/**
 * Opens the trained models that a setup names, under the names that it has for them. Their owner disposes of them.
 *
 * @throws AgogeError `unknown-model` if a folder has no model.
 */
export async function openSetupModels(
  { checkpoints = {} }: AgentSetup,
  config: AgogeConfig,
  root: string,
): Promise<OpenedModel[]> {
  const opened: OpenedModel[] = []
  try {
    for (const [name, folder] of Object.entries(checkpoints)) {
      const [model] = await openModels({ ...config, models: [run(folder)] }, root)
      opened.push({ ...model, name })
    }
    return opened
  } catch (error) {
    for (const { dispose } of opened) await dispose()
    throw error
  }
}
