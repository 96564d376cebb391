import { hashWeights } from '../adapter/lora.ts'
import type { Adapter } from '../adapter/lora.ts'
import type { Parameters } from '../model/parameters.ts'
import { recordedBase } from '../../runs/run-store.ts'
import type { RunFolder } from '../../runs/run-folder.ts'

/**
 * The base hash recorded for each model object of this process. A resumed run that uses the same object, with changed weights,
 * still has the same base.
 */
const begunFrom = new WeakMap<object, Set<string>>()

/**
 * The field `base` of a run's `config.json`: the hash of the initial weights of its models. Empty for models whose weights are
 * not in this process.
 */
export function baseOf(folder: RunFolder, models: readonly object[]): { base?: string } {
  const local = models.filter(hasWeights)
  if (local.length === 0 || local.length < models.length) return {}
  const recorded = recordedBase(folder)
  if (recorded !== undefined && local.every((model) => begunFrom.get(model)?.has(recorded) === true))
    return { base: recorded }
  const base = local.map(({ parameters, adapter }) => hashWeights(parameters, adapter)).join(' ')
  for (const model of local) begunFrom.set(model, (begunFrom.get(model) ?? new Set()).add(base))
  return { base }
}

function hasWeights(model: object): model is { parameters: Parameters; adapter?: Adapter } {
  const { parameters } = model as { parameters?: Partial<Parameters> }
  return parameters?.data instanceof Float32Array && parameters.layout !== undefined
}
