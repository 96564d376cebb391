import type {
  ArraySpace,
  ContextFeature,
  ContextSpace,
  EnvironmentDefinition,
} from '../../classic/environment/index.ts'
import { algorithmsFor, openNamed } from '../../classic/training/find-run.ts'
import { classicEnvironments } from '../../classic/environments/catalogue.ts'
import type { Adventure } from '../../llm/environment/adventure/adventure.ts'
import { textEnvironments } from '../../llm/environment/adventure/text-worlds.ts'
import { requireClassicEnvironment } from './classic-command.ts'
import type { Console } from '../shared/console.ts'
import { table } from '../shared/table.ts'

export interface EnvsCommand {
  /** Only this one, in full. */
  environment?: string
  json?: boolean
}

/** `agoge envs [WORLD]`: the classic environments, their spaces, what can be varied, and who can act in them. */
export async function runEnvs({ environment: only, json }: EnvsCommand, { out }: Console): Promise<void> {
  const games = Object.values(textEnvironments).map((create) => create({ seed: 0 }))
  const game = games.find(({ name }) => name === only)
  if (game !== undefined) out(json === true ? JSON.stringify(describeText(game), null, 2) : gameText(game))
  else if (only !== undefined) {
    await requireClassicEnvironment(only)
    const { definition } = await openNamed(only)
    out(
      json === true
        ? JSON.stringify(describe(definition.name, definition), null, 2)
        : definitionText(only, definition),
    )
  } else if (json === true) {
    const definitions = Object.entries(classicEnvironments).map(([name, definition]) =>
      describe(name, definition),
    )
    out(JSON.stringify([...definitions, ...games.map(describeText)], null, 2))
  } else {
    const rows = Object.entries(classicEnvironments).map(([name, definition]) => [
      name,
      space(definition.observation),
      space(definition.action),
      definition.maxSteps === undefined ? '–' : String(definition.maxSteps),
      Object.keys(definition.context).join(' '),
      algorithmsFor(definition).join(' '),
    ])
    const told = games.map((each) => [
      each.name,
      'text',
      'text',
      String(each.maxSteps),
      Object.keys(each.contextSpace).join(' '),
      'language models',
    ])
    out(table(['environment', 'observation', 'action', 'steps', 'context', 'algorithms'], [...rows, ...told]))
    out('\nranges and units of the context of an environment: agoge envs WORLD')
  }
}

function definitionText(name: string, definition: EnvironmentDefinition): string {
  return [
    `${name}: observation ${space(definition.observation)}, action ${space(definition.action)}${definition.mask === undefined ? '' : ' with masks'}, ${definition.maxSteps === undefined ? 'no limit of steps' : `at most ${definition.maxSteps} steps`}`,
    `algorithms: ${algorithmsFor(definition).join(', ')}`,
    '',
    ...(Object.keys(definition.context).length === 0
      ? [`agoge train ${name}`]
      : [
          featureTable(definition.context),
          '',
          `agoge train ${name} --vary ${Object.keys(definition.context).slice(0, 2).join(',')} [--visible]`,
        ]),
  ].join('\n')
}

function gameText({ name, maxSteps, contextSpace }: Adventure): string {
  return [
    `${name}: observation and action are texts, at most ${maxSteps} steps`,
    `in the terminal: agoge play ${name}; by a language model: agoge eval ${name} --model URL#NAME`,
    '',
    featureTable(contextSpace),
  ].join('\n')
}

const featureTable = (context: ContextSpace): string =>
  table(
    ['context', 'default', 'training', 'extrapolation', 'unit'],
    Object.entries(context).map(([feature, about]) => [
      feature,
      String(about.default),
      `${about.low} to ${about.high}`,
      outside(about),
      `${about.integer === true ? 'whole number; ' : ''}${about.about}`,
    ]),
  )

function outside({ low, high, extrapolate }: ContextFeature): string {
  if (extrapolate === undefined || (extrapolate[0] >= low && extrapolate[1] <= high)) return '–'
  return `${Math.min(low, extrapolate[0])} to ${Math.max(high, extrapolate[1])}`
}

function describe(name: string, definition: EnvironmentDefinition) {
  return {
    name,
    observation: plain(definition.observation),
    action: plain(definition.action),
    maxSteps: definition.maxSteps ?? null,
    masked: definition.mask !== undefined,
    context: definition.context,
    algorithms: algorithmsFor(definition),
  }
}

const describeText = ({ name, observationSpace, actionSpace, maxSteps, contextSpace }: Adventure) => ({
  name,
  observation: observationSpace,
  action: actionSpace,
  maxSteps,
  masked: false,
  context: contextSpace,
  algorithms: [],
})

/** JSON has neither typed arrays nor infinities: unbounded is null. */
function plain(given: ArraySpace): unknown {
  if (given.type !== 'box') return given
  const bounds = (values: Float64Array) => Array.from(values, (x) => (Number.isFinite(x) ? x : null))
  return { ...given, low: bounds(given.low), high: bounds(given.high) }
}

function space(given: ArraySpace): string {
  switch (given.type) {
    case 'box':
      return `box(${given.shape.join('x')})`
    case 'discrete':
      return `discrete(${given.n})`
    case 'multi-discrete':
      return `multi-discrete(${given.counts.join(' ')})`
    case 'multi-binary':
      return `multi-binary(${given.n})`
  }
}
