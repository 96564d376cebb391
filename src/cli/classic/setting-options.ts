import type { EnvironmentDefinition } from '../../classic/environment/index.ts'
import {
  checkContexts,
  type ContextSettings,
  type EvaluationSet,
  evaluationSets,
  noContexts,
} from '../../classic/training/context-settings.ts'
import type { BonusSettings } from '../../classic/training/find-run.ts'
import { findNamed } from '../../closest-name.ts'
import { AgogeError } from '../../error.ts'

/**
 * Parses `--bonus rnd,weight=0.1,features=32`: the kind, then its settings.
 *
 * @throws AgogeError for text that is not a setting. The run later checks whether the kind has these settings.
 */
export function readBonus(text: string): BonusSettings {
  const [kind = '', ...parts] = text.split(',').map((part) => part.trim())
  return { kind, ...Object.fromEntries(parts.map(readSetting)) }
}

function readSetting(text: string): [name: string, value: number] {
  const [, name, value = ''] = /^([a-z]+)=([\d.e+-]+)$/i.exec(text) ?? []
  if (name !== undefined && Number.isFinite(Number(value))) return [name, Number(value)]
  throw new AgogeError('--bonus takes a kind and its settings', {
    code: 'bad-option',
    given: text,
    expected: 'NAME=NUMBER after the kind, for example rnd,weight=0.1',
    hint: 'counts,resolution=0.01; counts,hashBits=16; rnd,features=16; icm,beta=0.2',
  })
}

/** Default number of observations for an encoder with a window. */
const defaultWindow = 8

/**
 * Parses `--encoder transformer,size=32,heads=2`: the kind, then its sizes. PPO carries the state of a GRU without a
 * window from step to step; other algorithms give it the last 8 observations, as they do a transformer. Slashes
 * separate the layers of convolutions: `cnn,channels=16/32,kernel=3/3,stride=1/2,padding=1/1`.
 *
 * @throws AgogeError for text that is not a size. The run later checks whether the kind has these sizes.
 */
export function readEncoder(text: string, algorithm: string): Record<string, unknown> {
  const [kind = '', ...parts] = text.split(',').map((part) => part.trim())
  const sizes = Object.fromEntries(parts.map(readSize))
  if (kind === 'cnn') return { kind, ...readLayers(sizes) }
  const windowed = kind === 'transformer' || (kind === 'gru' && algorithm !== 'ppo')
  const single = Object.entries(sizes).map(([name, values]) => [name, onlyOne(name, values)])
  return { kind, ...(windowed ? { window: defaultWindow } : {}), ...Object.fromEntries(single) }
}

function readSize(text: string): [name: string, values: number[]] {
  const [, name, numbers = ''] = /^([a-z]+)=([\d/]+)$/i.exec(text) ?? []
  const values = numbers.split('/').map(Number)
  if (name !== undefined && values.every((value) => Number.isSafeInteger(value))) return [name, values]
  throw badSize(text, 'NAME=NUMBER after the kind, for example gru,size=32')
}

function onlyOne(name: string, values: readonly number[]): number {
  if (values.length === 1) return values[0]
  throw badSize(`${name}=${values.join('/')}`, 'one number: only the layers of a cnn have several')
}

/** Sizes by layer. One number applies to all layers. */
function readLayers(sizes: Readonly<Record<string, readonly number[]>>): Record<string, unknown> {
  if (Object.keys(sizes).length === 0) return {}
  const { channels } = sizes
  if (channels === undefined || sizes['kernel'] === undefined)
    throw badSize(
      Object.keys(sizes).join(', '),
      'channels and kernel, for example cnn,channels=16/32,kernel=3',
    )
  const uneven = Object.entries(sizes).find(
    ([, values]) => values.length !== channels.length && values.length !== 1,
  )
  if (uneven !== undefined)
    throw badSize(
      `${uneven[0]}=${uneven[1].join('/')}`,
      `${channels.length} numbers, one a layer, or one for all`,
    )
  return {
    layers: channels.map((_, i) =>
      Object.fromEntries(Object.entries(sizes).map(([name, values]) => [name, values[i] ?? values[0]])),
    ),
  }
}

const badSize = (given: string, expected: string): AgogeError =>
  new AgogeError('--encoder takes a kind and its sizes', {
    code: 'bad-option',
    given,
    expected,
    hint: 'mlp; cnn,channels=16/32,kernel=3; gru,size=64; transformer,window=8,size=32,heads=2,layers=1',
  })

/** Context options as typed. */
export interface ContextOptions {
  /** `gravity,force`, or `all`. */
  vary?: string
  visible?: boolean
  /** `gravity=20`; several with commas or in several options. */
  context?: string[]
}

/**
 * Adds the given context options to those in `before`. A feature that is now fixed no longer varies, and the reverse.
 * `all` means all features that are not fixed.
 *
 * @throws AgogeError for features and values that the environment lacks.
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
  // Training has already decided which features an agent sees.
  checkContexts(definition, before.visible ? { ...contexts, visible: false } : contexts)
  return contexts
}

/** True if any context option is given. */
export const asksForContexts = ({ vary, visible, context }: ContextOptions): boolean =>
  vary !== undefined || visible === true || context !== undefined

/**
 * The sets that `--set` names. Default: all sets, or the default context if nothing varies.
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
