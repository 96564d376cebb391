import type { EnvironmentDefinition } from '../../classic/environment/index.ts'
import { AgogeError } from '../../error.ts'
import { checkContexts, evaluationSets, noContexts } from '../../classic/training/context-settings.ts'
import { findNamed } from '../../closest-name.ts'
import type { ContextSettings, EvaluationSet } from '../../classic/training/context-settings.ts'

/** What the command line says of contexts, as it was typed. */
export interface ContextOptions {
  /** `gravity,force`, or `all`. */
  vary?: string
  visible?: boolean
  /** `gravity=20`, several with commas or in several options. */
  context?: string[]
}

/**
 * The contexts that are asked for, on top of those of `before`: features that are now fixed vary no longer, and the
 * other way round. `all` are all that are not fixed.
 *
 * @throws AgogeError for features and values that the environment does not have.
 */
export function readContexts(
  definition: Pick<EnvironmentDefinition, 'name' | 'context'>,
  options: ContextOptions,
  before: ContextSettings = noContexts,
): ContextSettings {
  const given = fixedFeatures(options.context ?? [])
  const vary =
    options.vary === undefined
      ? before.vary.filter((name) => !Object.hasOwn(given, name))
      : options.vary === 'all'
        ? Object.keys(definition.context).filter((name) => !Object.hasOwn(given, name))
        : commaSeparated(options.vary)
  const fixed = Object.fromEntries(
    Object.entries({ ...before.fixed, ...given }).filter(
      ([name]) => Object.hasOwn(given, name) || !vary.includes(name),
    ),
  )
  const contexts = { vary, visible: options.visible ?? before.visible, fixed }
  // Which features an agent sees was settled when it was trained.
  checkContexts(definition, before.visible ? { ...contexts, visible: false } : contexts)
  return contexts
}

/** Whether the options say anything. */
export const asksForContexts = ({ vary, visible, context }: ContextOptions): boolean =>
  vary !== undefined || visible === true || context !== undefined

/**
 * The sets that `--set` names; without it all that there are, or the default context where nothing varies.
 *
 * @throws AgogeError for a set that cannot be drawn.
 */
export function readSets(
  definition: EnvironmentDefinition,
  contexts: ContextSettings,
  given?: readonly string[],
): EvaluationSet[] {
  const there = evaluationSets(definition, contexts)
  const known = Object.fromEntries(['default' as const, ...there].map((set) => [set, set]))
  return given?.map((set) => findNamed(`set of contexts of ${definition.name}`, set, known)) ?? there
}

function fixedFeatures(given: readonly string[]): Record<string, number> {
  return Object.fromEntries(
    given.flatMap(commaSeparated).map((text) => {
      const [, name, number = ''] = /^([^=]+)=(.*)$/.exec(text) ?? []
      const value = Number(number)
      if (name !== undefined && number.trim() !== '' && Number.isFinite(value)) return [name.trim(), value]
      throw new AgogeError('--context takes features with their values', {
        code: 'bad-option',
        given: text,
        expected: 'NAME=NUMBER, for example gravity=20',
        hint: 'agoge envs ENVIRONMENT lists the features of an environment',
      })
    }),
  )
}

const commaSeparated = (text: string): string[] =>
  text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')
