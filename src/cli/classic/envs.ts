import { defined } from '../../defined.ts'
import type {
  ArraySpace,
  ContextFeature,
  ContextSpace,
  EnvironmentDefinition,
} from '../../classic/environment/index.ts'
import { algorithmsFor, openNamed } from '../../classic/training/find-run.ts'
import {
  classicEnvironments,
  multiAgentEnvironments,
  namedEnvironments,
} from '../../classic/environments/catalogue.ts'
import type { Adventure } from '../../llm/environment/adventure/adventure.ts'
import { toolEnvironments } from '../../llm/environment/catalogue.ts'
import { gameOf, readToolEnvironment, requireClassicEnvironment } from '../shared/environment-names.ts'
import { type Console, table } from '../shared/console.ts'
import { listed } from '../shared/help.ts'

export interface EnvsCommand {
  /** Show only this one, in full. */
  environment?: string
  json?: boolean
}

/**
 * `agoge envs [ENVIRONMENT]`: lists classic environments with their spaces, contexts and algorithms, and the
 * environments of language-model agents.
 */
export async function runEnvs(
  { environment: only, json = false }: EnvsCommand,
  { out }: Console,
): Promise<void> {
  if (only === undefined) return out(json ? JSON.stringify(await allForPrograms(), null, 2) : allText())
  const game = await gameOf(only)?.({ seed: 0 })
  if (game !== undefined) return out(json ? JSON.stringify(describeText(game), null, 2) : gameText(game))
  const tool = await describeTool(only)
  if (tool !== undefined) return out(json ? JSON.stringify(tool, null, 2) : toolText(only, tool))
  await requireClassicEnvironment(only)
  const { definition } = await openNamed(only)
  out(
    json ? JSON.stringify(describe(definition.name, definition), null, 2) : definitionText(only, definition),
  )
}

/**
 * The list, at most 100 columns wide. Environments with the same algorithms share a letter, explained below the list.
 */
function allText(): string {
  const letters = new Map<string, string>()
  const letterOf = (algorithms: string): string => {
    const letter = letters.get(algorithms) ?? String.fromCodePoint(65 + letters.size)
    letters.set(algorithms, letter)
    return letter
  }
  const rowOf = ([name, definition]: [string, EnvironmentDefinition]): string[] => [
    name,
    space(definition.observation),
    space(definition.action),
    definition.maxSteps === undefined ? '–' : String(definition.maxSteps),
    String(Object.keys(definition.context).length),
    letterOf(algorithmsFor(definition).join(', ')),
  ]
  const header = ['environment', 'observation', 'action', 'steps', 'context features', 'algorithms']
  const agentsOf = ([name, definition]: [string, EnvironmentDefinition]): string[] => [
    name,
    String(definition.agentNames?.length ?? 1),
    ...rowOf([name, definition]).slice(1),
  ]
  return [
    table(header, Object.entries(classicEnvironments).map(rowOf)),
    '',
    'Several agents, which learn independently with shared parameters:',
    table([header[0], 'agents', ...header.slice(1)], Object.entries(multiAgentEnvironments).map(agentsOf)),
    '',
    'Algorithms:',
    ...listed([...letters].map(([algorithms, letter]) => [letter, algorithms])),
    '',
    'Context features of one, with ranges and units: agoge envs ENVIRONMENT',
    '',
    'For language models (agoge train, eval, chat):',
    ...listed([
      ...Object.entries(toolEnvironments).map(([name, { about }]) => [name, about] as const),
      ['mcp:NAME', 'a server of your .mcp.json'],
      ['FILE.ts', 'a module that exports `environment`, made by defineToolEnvironment'],
    ]),
  ].join('\n')
}

async function allForPrograms(): Promise<object[]> {
  const definitions = Object.entries(namedEnvironments).map(([name, definition]) =>
    describe(name, definition),
  )
  const tools = Object.keys(toolEnvironments).map(async (name) => {
    const game = await gameOf(name)?.({ seed: 0 })
    return game === undefined ? ((await describeTool(name)) ?? { name }) : describeText(game)
  })
  return [...definitions, ...(await Promise.all(tools))]
}

interface ToolDescription {
  name: string
  about: string
  /** Kinds of tasks, if they are known before the environment is opened. */
  kinds?: readonly string[]
}

/** Describes an environment for language models, by name or by module. */
async function describeTool(name: string): Promise<ToolDescription | undefined> {
  if (Object.hasOwn(toolEnvironments, name)) return { name, about: toolEnvironments[name].about }
  const found = await readToolEnvironment(name)
  return found === undefined
    ? undefined
    : { name: found.name, about: found.about ?? '', kinds: found.tasks.kinds }
}

function toolText(typed: string, { name, about, kinds }: ToolDescription): string {
  return [
    [name, about].filter(Boolean).join(': '),
    ...(kinds === undefined ? [] : [`kinds of tasks: ${kinds.join(', ')}`]),
    `agoge train ${typed}; agoge eval ${typed}; agoge chat ${typed}`,
  ].join('\n')
}

function definitionText(name: string, definition: EnvironmentDefinition): string {
  return [
    `${name}: observation ${space(definition.observation)}, action ${space(definition.action)}${definition.mask === undefined ? '' : ' with masks'}, ${definition.maxSteps === undefined ? 'no limit of steps' : `at most ${definition.maxSteps} steps`}`,
    ...(definition.agentNames === undefined
      ? []
      : [
          `${definition.agentNames.length} agents (${definition.agentNames.join(', ')}), which learn independently with shared parameters`,
        ]),
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
    ...defined({ agents: definition.agentNames }),
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

/** JSON has no typed arrays and no infinities: unbounded becomes null. */
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
