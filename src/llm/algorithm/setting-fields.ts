import { AgogeError } from '../../error.ts'
import { closestName } from '../../closest-name.ts'

interface NumberField {
  type: 'number' | 'integer'
  minimum?: number
  /** The value must be greater than this. */
  above?: number
  maximum?: number
}
interface BooleanField {
  type: 'boolean'
}
interface ChoiceField<Value extends string = string> {
  oneOf: readonly Value[]
}
interface NestedField {
  fields: Readonly<Record<string, SettingField>>
}

/** One setting: its type, bounds, documented default, and whether it is optional. */
export type SettingField = (NumberField | BooleanField | ChoiceField | NestedField) & {
  default?: unknown
  optional?: true
}

type FieldOfValue<Value> = [Value] extends [number]
  ? NumberField
  : [Value] extends [boolean]
    ? BooleanField
    : [Value] extends [string]
      ? ChoiceField<Value>
      : NestedField

/** An optional setting states its default or that it has none. */
type FieldOf<Value> = undefined extends Value
  ? FieldOfValue<Exclude<Value, undefined>> & ({ default: Exclude<Value, undefined> } | { optional: true })
  : FieldOfValue<Value>

type KeyOf<Settings> = Settings extends unknown ? keyof Settings : never
type ValueOf<Settings, Key extends PropertyKey> = Settings extends unknown
  ? Key extends keyof Settings
    ? Settings[Key]
    : undefined
  : never

/**
 * One field for every setting of a type, so that every setting is checked and documented. In a union, settings that
 * only some members have are optional.
 */
export type SettingFields<Settings> = {
  readonly [Key in KeyOf<Settings>]-?: FieldOf<ValueOf<Settings, Key>>
}

/**
 * Checks settings given in code or JSON.
 *
 * @param owner owner of the settings, for the message: `loss "gspo"`.
 * @param settings may have a `name` besides the fields.
 * @throws AgogeError `bad-config` naming the first setting that is missing, unknown or out of bounds.
 */
export function checkSettings(
  owner: string,
  fields: Readonly<Record<string, SettingField>>,
  settings: Readonly<Record<string, unknown>>,
): void {
  for (const [key, field] of Object.entries(fields)) {
    const value = settings[key]
    if (value === undefined && (field.optional === true || field.default !== undefined)) continue
    const expected = mismatch(field, value)
    if (expected === undefined) continue
    const problem = value === undefined ? `needs the setting "${key}"` : `cannot have this "${key}"`
    throw new AgogeError(`The ${owner} ${problem}`, {
      code: 'bad-config',
      given: settings,
      expected: `${key}: ${expected}`,
    })
  }
  const known = Object.keys(fields)
  const unknown = Object.keys(settings).find((key) => key !== 'name' && !known.includes(key))
  if (unknown === undefined) return
  const meant = closestName(unknown, known)
  throw new AgogeError(`The ${owner} has no setting "${unknown}"`, {
    code: 'bad-config',
    given: settings,
    expected: known.length === 0 ? 'no settings' : `settings among ${known.join(', ')}`,
    ...(meant === undefined ? {} : { hint: `Did you mean "${meant}"?` }),
  })
}

/** What was expected, if the value is invalid. */
function mismatch(field: SettingField, value: unknown): string | undefined {
  if ('oneOf' in field)
    return field.oneOf.includes(value as string) ? undefined : `one of ${field.oneOf.join(', ')}`
  if ('fields' in field) {
    if (typeof value !== 'object' || value === null) return `{ ${Object.keys(field.fields).join(', ')} }`
    for (const [key, inner] of Object.entries(field.fields)) {
      const expected = mismatch(inner, (value as Record<string, unknown>)[key])
      if (expected !== undefined) return `${key} in it: ${expected}`
    }
    return undefined
  }
  if (field.type === 'boolean') return typeof value === 'boolean' ? undefined : 'true or false'
  const { type, minimum = -Infinity, above = -Infinity, maximum = Infinity } = field
  const fits =
    typeof value === 'number' &&
    Number.isFinite(value) &&
    value >= minimum &&
    value <= maximum &&
    (above === -Infinity || value > above) &&
    (type === 'number' || Number.isInteger(value))
  if (fits) return undefined
  const bounds = [
    ...(minimum === -Infinity ? [] : [`of ${minimum} or more`]),
    ...(above === -Infinity ? [] : [`above ${above}`]),
    ...(maximum === Infinity ? [] : [`at most ${maximum}`]),
  ]
  return [type === 'integer' ? 'an integer' : 'a number', bounds.join(', ')].filter(Boolean).join(' ')
}

/**
 * The settings with their defaults for a table: `std = true, epsilon = 0.0001`. Required ones have no default; optional
 * ones are in brackets.
 */
export function describeFields(fields: Readonly<Record<string, SettingField>>): string {
  return Object.entries(fields)
    .map(([key, field]) => {
      if (field.default !== undefined)
        return typeof field.default === 'object' ? `[${key}]` : `${key} = ${field.default as string}`
      return field.optional === true ? `[${key}]` : key
    })
    .join(', ')
}

/** Defaults of the fields that have one. */
export function defaultSettings(fields: Readonly<Record<string, SettingField>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).flatMap(([key, field]) =>
      field.default === undefined ? [] : [[key, field.default]],
    ),
  )
}
