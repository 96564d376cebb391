import { AgogeError } from '../../error.ts'
import { closestName } from '../../closest-name.ts'
import type { AdvantageDefinition, LossDefinition, PreferenceDefinition, SettingsOf } from './define.ts'
import * as definitions from './definitions.ts'
import type { AdvantageFunction, BaseSettings } from './types.ts'

/** What `definitions.ts` exports: functions and constants of the files, among them the definitions. */
type Listed = (typeof definitions)[keyof typeof definitions]
export type ListedAdvantage = Extract<Listed, { readonly kind: 'advantage' }>
export type ListedLoss = Extract<Listed, { readonly kind: 'loss' }>
export type ListedPreference = Extract<Listed, { readonly kind: 'preference' }>

export type AdvantageName = ListedAdvantage['name']
export type LossName = ListedLoss['name']
export type PreferenceName = ListedPreference['name']

export type Definition = AdvantageDefinition | LossDefinition | PreferenceDefinition

export function isDefinition(value: unknown): value is Definition {
  return typeof value === 'object' && value !== null && 'kind' in value && 'cases' in value
}

/** Sorted by name, because loaders differ in the order of a module's exports. */
function ofKind(kind: Definition['kind']): Record<string, Definition> {
  const found = Object.values<unknown>(definitions).filter(isDefinition)
  const named = found.filter((each) => each.kind === kind).map((each) => [each.name, each] as const)
  return Object.fromEntries(named.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** All advantage estimators by their name in the settings. */
export const advantages = ofKind('advantage') as Readonly<Record<AdvantageName, AdvantageDefinition>>

/** All losses over tokens by their name in the settings. */
export const losses = ofKind('loss') as Readonly<Record<LossName, LossDefinition>>

/** All losses over pairs of answers. */
export const preferenceLosses = ofKind('preference') as Readonly<Record<PreferenceName, PreferenceDefinition>>

/** An advantage estimator by name with its settings, as JSON: `{ name: 'grpo', std: false }`. */
export type AdvantageSettings = SettingsOf<ListedAdvantage>

/** A loss by name with its settings, as JSON: `{ name: 'gspo', clipLow: 3e-4, clipHigh: 4e-4 }`. */
export type PolicyLossSettings = SettingsOf<ListedLoss>

/** Settings of policy optimisation. Plain JSON, except when the advantages are a function of your own. */
export interface PolicySettings extends BaseSettings {
  advantage: AdvantageSettings | AdvantageFunction
  loss: PolicyLossSettings
}

/**
 * Returns the definition with this name, from `own` or from the library. @throws AgogeError `bad-config` listing the
 * names.
 */
export function findPart<Part extends Definition>(
  kind: Part['kind'],
  name: string,
  library: Readonly<Record<string, Part>>,
  own: readonly Part[] = [],
): Part {
  const found = own.find((each) => each.name === name)
  if (found !== undefined) return found
  if (Object.hasOwn(library, name)) return library[name]
  const known = [...own.map((each) => each.name), ...Object.keys(library)]
  const meant = closestName(name, known)
  throw new AgogeError(`There is no ${kind} named "${name}"`, {
    code: 'bad-config',
    given: name,
    expected: `one of ${known.join(', ')}`,
    ...(meant === undefined ? {} : { hint: `Did you mean "${meant}"?` }),
  })
}
