import { resolve } from 'node:path'
import { InvalidArgumentError, Option } from 'commander'
import type { Command } from 'commander'
import { AgogeError } from '../../error.ts'
import { isEnvironmentFile } from '../../classic/training/environment-file.ts'
import { toolEnvironments } from '../../llm/environment/catalogue.ts'
import { samplingWeightTypes } from '../../llm/sampling/quantised-weights.ts'

/** The values of `agoge export --to` and `--type`. They are in a file of their own so that help loads nothing else. */
export const exportKinds = ['merged', 'lora', 'onnx', 'sft', 'dpo', 'grpo'] as const
export type ExportKind = (typeof exportKinds)[number]

export const weightTypes = ['F32', 'F16', 'BF16'] as const
export type WeightType = (typeof weightTypes)[number]

/** The values of `agoge train-offline --method`. */
export const offlineMethods = {
  dpo: 'direct preference optimisation, over pairs of episodes',
  ipo: 'identity preference optimisation',
  orpo: 'odds ratios with imitation, no reference',
  simpo: 'mean log-probabilities, no reference',
  kto: 'single episodes, successful or not',
  'reward-model': 'a number for a whole episode, from pairs',
  'process-reward-model': 'a number for each step of an episode',
} as const

export type OfflineMethod = keyof typeof offlineMethods

/** Makes a parser of whole numbers of at least `least`. Commander adds the option's name to its message. */
export function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (text.trim() === '' || !Number.isSafeInteger(value) || value < least) {
      throw new InvalidArgumentError(`Expected a whole number of at least ${least}.`)
    }
    return value
  }
}

/** Parses a number of tasks, or names a file of tasks. */
export function tasksOrFile(text: string): number | string {
  return /\.jsonl?$/i.test(text) || /[\\/]/.test(text) ? text : wholeNumber(1)(text)
}

/** The number of tasks, or the absolute path of a file of tasks. */
export function readTasksOption(given: number | string | undefined): { tasks?: number; taskFile?: string } {
  if (given === undefined) return {}
  return typeof given === 'number' ? { tasks: given } : { taskFile: resolve(given) }
}

/** Parses a port. 0 takes any free port. */
export function port(text: string): number {
  const value = wholeNumber(0)(text)
  if (value > 65535) throw new InvalidArgumentError('Expected a port from 0 to 65535.')
  return value
}

/** Parses a share, as 0.85 or 85%. */
export function share(text: string): number {
  const digits = text.replace(/%$/, '')
  const value = Number(digits) / (digits === text ? 1 : 100)
  if (digits.trim() === '' || !(value >= 0 && value <= 1)) {
    throw new InvalidArgumentError('Expected a share from 0 to 1, or from 0% to 100%.')
  }
  return value
}

/** Parses a number above 0. */
export function positive(text: string): number {
  const value = Number(text)
  if (text.trim() === '' || !Number.isFinite(value) || value <= 0) {
    throw new InvalidArgumentError('Expected a number above 0.')
  }
  return value
}

/** Makes a parser of numbers of at least `least`, fractions included. */
function atLeast(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (text.trim() === '' || !Number.isFinite(value) || value < least) {
      throw new InvalidArgumentError(`Expected a number of at least ${least}.`)
    }
    return value
  }
}

export function several(text: string, before: string[] = []): string[] {
  return [...before, text]
}

/** Reads `--sandbox` and `--sandbox=remote`. */
function sandboxReach(text: string): true | 'remote' {
  if (text === 'remote') return text
  if (text === 'here') return true
  throw new InvalidArgumentError('Expected --sandbox or --sandbox=remote.')
}

/** Collects levels of difficulty, one for each use of the option. */
function levels(text: string, before: number[] = []): number[] {
  return [...before, wholeNumber(1)(text)]
}

/**
 * Kinds of environment with different options: `classic`, MCP servers (`mcp`), `module` for a file whose kind is only
 * known after loading, `tool` for one that defines a tool environment, or the name of a tool environment (`filesystem`,
 * `reasoning` ...).
 */
export type EnvironmentKind = 'classic' | 'mcp' | 'module' | 'tool' | (string & {})

/**
 * The environments that have an option. `own`: the tool environments that name it in their catalogue entry. `agent`: the user's own agent,
 * from a config.
 */
type OptionScope = 'classic' | 'language' | 'mcp' | 'own' | 'agent'

/**
 * Returns the kind of the environment with this name. An unknown name counts as classic, which has the longest list.
 */
export function environmentKind(name: string): EnvironmentKind {
  if (name.startsWith('mcp:')) return 'mcp'
  if (isEnvironmentFile(name)) return 'module'
  return Object.hasOwn(toolEnvironments, name) ? name : 'classic'
}

interface Applies {
  scopes?: readonly OptionScope[]
  /** The description for classic RL, if it differs. */
  classic?: string
}
const applies = new WeakMap<Option, Applies>()

/** Marks an option that only some environments have. The others refuse it and leave it out of their help. */
export function optionOf(scope: OptionScope | readonly OptionScope[], option: Option): Option {
  applies.set(option, { scopes: typeof scope === 'string' ? [scope] : scope })
  return option
}

/** Marks an option of all environments that has another meaning in classic RL. With `scopes`, of these only. */
export function optionOfBoth(option: Option, classic: string, scopes?: readonly OptionScope[]): Option {
  applies.set(option, { classic, ...(scopes && { scopes }) })
  return option
}

/** Whether the option applies to this kind of environment. */
export function appliesTo(option: Option, kind: EnvironmentKind): boolean {
  const of = applies.get(option)?.scopes
  if (kind === 'agent') return of?.includes('agent') ?? false
  if (of === undefined || kind === 'module') return of === undefined || !of.every((one) => one === 'agent')
  const names: readonly string[] = toolEnvironments[kind]?.options ?? []
  return of.some((scope) => {
    if (scope === 'language') return kind !== 'classic'
    return scope === 'own' ? names.includes(option.attributeName()) : kind === scope
  })
}

/** The description of the option for this kind of environment. */
export const describedFor = (option: Option, kind: EnvironmentKind): string =>
  (kind === 'classic' ? applies.get(option)?.classic : undefined) ?? option.description

const scopes: Readonly<Record<OptionScope, string>> = {
  classic: 'environments of classic RL',
  language: 'language models',
  agent: 'an agent of your own, in agoge.config.ts',
  mcp: 'a server that you configured, mcp:NAME',
  own: `the environment ${Object.keys(toolEnvironments)
    .filter((name) => toolEnvironments[name].options !== undefined)
    .join(' or ')}`,
}

/**
 * Refuses options that do not apply to the environment, instead of ignoring them.
 *
 * @throws AgogeError `bad-option` with their names.
 */
export function refuseForeignOptions(command: Command, environment: string, kind: EnvironmentKind): void {
  const wrong = command.options.filter(
    (option) => command.getOptionValueSource(option.attributeName()) === 'cli' && !appliesTo(option, kind),
  )
  if (wrong.length === 0) return
  const names = wrong.map(({ long }) => long)
  throw new AgogeError(`${names.join(', ')} means nothing for ${environment}`, {
    code: 'bad-option',
    given: names.join(' '),
    expected: `options of agoge ${command.name()} ${environment} --help`,
    hint: `${names[0]} is for ${scopes[applies.get(wrong[0])?.scopes?.[0] ?? 'language']}`,
  })
}

/** Adds the option of a model that is sampled in this process. */
export function withSamplingWeights(command: Command): Command {
  const about = 'int8 samples larger models faster, with nearly the same policy (default: float32)'
  return command.addOption(
    optionOf('language', new Option('--sampling-weights <type>', about).choices(samplingWeightTypes)),
  )
}

/** Adds the options of a model that acts, wherever it runs. */
export function withModel(command: Command): Command {
  const options = [
    new Option(
      '--temperature <t>',
      "of sampling; 0 is greedy (default: 0; of an endpoint, the model's own)",
    ).argParser(atLeast(0)),
    new Option('--constrained', "hold calls to the tools' schemas (models trained by agoge)"),
    new Option('--api-key-env <name>', 'variable with the key of the endpoint (default: OPENAI_API_KEY)'),
    new Option('--timeout <seconds>', 'for one answer of the endpoint (default: 120)').argParser(
      atLeast(0.001),
    ),
  ]
  for (const option of options) command.addOption(optionOf('language', option))
  return withSamplingWeights(command)
}

const yesToPlan = 'accept the plan of calls without asking'

/**
 * Adds the argument and the options by which a command names its environment.
 *
 * @param yes The option `--yes`. Default: it accepts the plan of calls, and only MCP servers have one.
 */
export function withEnvironment(
  command: Command,
  yes: Option = optionOf(['mcp', 'agent'], new Option('--yes', yesToPlan)),
): Command {
  const server = [
    new Option('--mcp-config <file>', 'where mcp:NAME is looked up (default: .mcp.json)'),
    new Option(
      '--sandbox [reach]',
      'run every tool: the state behind the server on this machine may be destroyed; =remote: on other hosts too',
    ).argParser(sandboxReach),
    new Option('--allow <tool>', 'run this tool although it is not marked read-only; repeatable').argParser(
      several,
    ),
    new Option('--max-calls <n>', 'limit of calls in all').argParser(wholeNumber(1)),
    new Option('--calls-per-second <n>', 'limit of calls per second').argParser(wholeNumber(1)),
  ]
  const questions = [
    new Option('--task <name>', 'a kind of question; repeatable (default: all)').argParser(several),
    new Option('--difficulty <level>', '1 to 3; repeatable (default: all)').argParser(levels),
  ]
  command.argument(
    '[environment]',
    'a name from `agoge envs`, mcp:NAME for a server of .mcp.json, or a FILE.ts that exports `environment`',
    'filesystem',
  )
  for (const option of server) command.addOption(optionOf('mcp', option))
  command.addOption(yes)
  for (const option of questions) command.addOption(optionOf('own', option))
  return command
}

/** The options by which a command of classic RL chooses contexts. */
export function withContexts(command: Command): Command {
  return command
    .addOption(
      optionOf(
        'classic',
        new Option('--vary <features>', 'draw these context features for every episode: a,b or all'),
      ),
    )
    .addOption(
      optionOf(
        'classic',
        new Option('--context <feature=value>', 'fix a context feature, as gravity=20; repeatable').argParser(
          several,
        ),
      ),
    )
}

/** What stands on the command line, without defaults. */
export function typedOptions(command: Command): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(command.opts()).filter(([name]) => command.getOptionValueSource(name) === 'cli'),
  )
}
