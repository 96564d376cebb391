import {
  findPolicyPreset,
  policyPresets,
  presetOfEarlierRun,
} from '../algorithm/policy-optimisation/presets.ts'
import { createAlgorithm } from '../algorithm/define-algorithm.ts'
import type { AlgorithmDefinition } from '../algorithm/define-algorithm.ts'
import type { AnySettings } from '../algorithm/policy-optimisation/optimise-policy.ts'
import type { Algorithm, BatchSettings } from '../algorithm/types.ts'
import type { PolicyPresetName } from '../algorithm/policy-optimisation/presets.ts'
import type { RunFolder } from '../../runs/run-folder.ts'

/** What `config.json` says of an algorithm that was chosen by name. */
export interface NamedAlgorithm {
  algorithm?: string
  /** What the name stood for when the run began. Absent in runs of earlier versions. */
  algorithmSettings?: AnySettings
}

/**
 * The algorithm of a run, how it wants its batches, and what the run records of it. Default: `grpo-damped`, of which nothing is recorded.
 *
 * @param given the name of a preset, a definition of the user's, or any function.
 * @param resumed the folder of a run that is resumed: with the settings that it recorded, or with what the name meant when runs recorded none.
 * @throws AgogeError `unknown-algorithm` where no preset has the name.
 */
export function algorithmOf(
  given: PolicyPresetName | AlgorithmDefinition | Algorithm | undefined,
  resumed: RunFolder | null,
): { algorithm: Algorithm; batch?: BatchSettings | undefined; named: NamedAlgorithm } {
  if (typeof given === 'function') return { algorithm: given, named: {} }
  if (given === undefined) return { algorithm: createAlgorithm(policyPresets['grpo-damped']), named: {} }
  const name = typeof given === 'string' ? given : given.name
  const before = resumed === null ? null : recordedAlgorithm(resumed)
  const recorded = before?.algorithm === name ? before : null
  if (typeof given === 'string' && recorded !== null && recorded.algorithmSettings === undefined) {
    const earlier = presetOfEarlierRun(given)
    return { algorithm: createAlgorithm(earlier), batch: earlier.batch, named: { algorithm: name } }
  }
  const definition: AlgorithmDefinition = typeof given === 'string' ? findPolicyPreset(given) : given
  // A function of the user's is in no record.
  const readable = typeof definition.settings.advantage !== 'function'
  const settings = (readable ? recorded?.algorithmSettings : undefined) ?? definition.settings
  return {
    algorithm: createAlgorithm(definition, settings),
    batch: definition.batch,
    named: { algorithm: name, algorithmSettings: settings },
  }
}

/** Null where nothing can be read: whoever opens the run reports that. */
function recordedAlgorithm(folder: RunFolder): NamedAlgorithm | null {
  if (!folder.has('config.json')) return null
  try {
    return JSON.parse(folder.read('config.json')) as NamedAlgorithm
  } catch {
    return null
  }
}
