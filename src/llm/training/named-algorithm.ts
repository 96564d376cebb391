import {
  findPolicyPreset,
  policyPresets,
  presetOfEarlierRun,
} from '../algorithm/policy-optimisation/presets.ts'
import { optimisePolicy } from '../algorithm/policy-optimisation/optimise-policy.ts'
import type { Algorithm, BatchSettings } from '../algorithm/types.ts'
import type { PolicyPresetName } from '../algorithm/policy-optimisation/presets.ts'
import type { PolicySettings } from '../algorithm/policy-optimisation/settings.ts'
import type { RunFolder } from '../../runs/run-folder.ts'

/** What `config.json` says of an algorithm that was chosen by name. */
export interface NamedAlgorithm {
  algorithm?: string
  /** What the name stood for when the run began. Absent in runs of earlier versions. */
  algorithmSettings?: PolicySettings
}

/**
 * The algorithm of a run, how it wants its batches, and what the run records of it. Default: `grpo-damped`, of which nothing is recorded.
 *
 * @param resumed the folder of a run that goes on: with the settings that it recorded, or with what the name meant when runs recorded none.
 * @throws AgogeError `unknown-algorithm` where no preset has the name.
 */
export function algorithmOf(
  given: PolicyPresetName | Algorithm | undefined,
  resumed: RunFolder | null,
): { algorithm: Algorithm; batch?: BatchSettings | undefined; named: NamedAlgorithm } {
  if (typeof given === 'function') return { algorithm: given, named: {} }
  if (given === undefined)
    return { algorithm: optimisePolicy(policyPresets['grpo-damped'].settings), named: {} }
  const before = resumed === null ? null : recordedAlgorithm(resumed)
  if (before?.algorithm === given && before.algorithmSettings === undefined) {
    const { settings, batch } = presetOfEarlierRun(given)
    return { algorithm: optimisePolicy(settings), batch, named: { algorithm: given } }
  }
  const { settings, batch } = findPolicyPreset(given)
  const own = (before?.algorithm === given ? before.algorithmSettings : undefined) ?? settings
  return { algorithm: optimisePolicy(own), batch, named: { algorithm: given, algorithmSettings: own } }
}

/** Null where nothing can be read: what that means is told by whoever opens the run. */
function recordedAlgorithm(folder: RunFolder): NamedAlgorithm | null {
  if (!folder.has('config.json')) return null
  try {
    return JSON.parse(folder.read('config.json')) as NamedAlgorithm
  } catch {
    return null
  }
}
