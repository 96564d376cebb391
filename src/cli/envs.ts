import type { ArraySpace, ContextFeature, ContextSpace, World } from '../environment/index.ts'
import { algorithmsFor, arrayWorlds, openWorldNamed } from '../training/arrays/index.ts'
import type { Adventure } from '../worlds/adventure/index.ts'
import { textWorlds } from '../worlds/text-worlds.ts'
import { requireArrayWorld } from './array-command.ts'
import type { Console } from './console.ts'
import { table } from './table.ts'

export interface EnvsCommand {
  /** Only this one, in full. */
  world?: string
  json?: boolean
}

/** `agoge envs [WORLD]`: the worlds over arrays of numbers, their spaces, what can be varied, and who can act in them. */
export async function runEnvs({ world: only, json }: EnvsCommand, { out }: Console): Promise<void> {
  const games = Object.values(textWorlds).map((create) => create({ seed: 0 }))
  const game = games.find(({ name }) => name === only)
  if (game !== undefined) out(json === true ? JSON.stringify(describeText(game), null, 2) : gameText(game))
  else if (only !== undefined) {
    await requireArrayWorld(only)
    const { world } = await openWorldNamed(only)
    out(json === true ? JSON.stringify(describe(world.name, world), null, 2) : worldText(only, world))
  } else if (json === true) {
    const worlds = Object.entries(arrayWorlds).map(([name, world]) => describe(name, world))
    out(JSON.stringify([...worlds, ...games.map(describeText)], null, 2))
  } else {
    const rows = Object.entries(arrayWorlds).map(([name, world]) => [
      name,
      space(world.observation),
      space(world.action),
      world.maxSteps === undefined ? '–' : String(world.maxSteps),
      Object.keys(world.context).join(' '),
      algorithmsFor(world).join(' '),
    ])
    const told = games.map((each) => [
      each.name,
      'text',
      'text',
      String(each.maxSteps),
      Object.keys(each.contextSpace).join(' '),
      'language models',
    ])
    out(table(['world', 'observation', 'action', 'steps', 'context', 'algorithms'], [...rows, ...told]))
    out('\nranges and units of the context of a world: agoge envs WORLD')
  }
}

function worldText(name: string, world: World): string {
  return [
    `${name}: observation ${space(world.observation)}, action ${space(world.action)}${world.mask === undefined ? '' : ' with masks'}, ${world.maxSteps === undefined ? 'no limit of steps' : `at most ${world.maxSteps} steps`}`,
    `algorithms: ${algorithmsFor(world).join(', ')}`,
    '',
    ...(Object.keys(world.context).length === 0
      ? [`agoge train ${name}`]
      : [
          featureTable(world.context),
          '',
          `agoge train ${name} --vary ${Object.keys(world.context).slice(0, 2).join(',')} [--visible]`,
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

function describe(name: string, world: World) {
  return {
    name,
    observation: plain(world.observation),
    action: plain(world.action),
    maxSteps: world.maxSteps ?? null,
    masked: world.mask !== undefined,
    context: world.context,
    algorithms: algorithmsFor(world),
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
