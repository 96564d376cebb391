import { InvalidArgumentError, Option } from 'commander'
import type { Command } from 'commander'
import { samplingWeightTypes } from '../../llm/sampling/quantised-weights.ts'

/** Parses a whole number of at least `least`; commander names the option in its message. */
export function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (text.trim() === '' || !Number.isSafeInteger(value) || value < least) {
      throw new InvalidArgumentError(`Expected a whole number of at least ${least}.`)
    }
    return value
  }
}

/** A port to listen at; 0 takes any. */
export function port(text: string): number {
  const value = wholeNumber(0)(text)
  if (value > 65535) throw new InvalidArgumentError('Expected a port from 0 to 65535.')
  return value
}

/** A share as 0.85 or 85%. */
export function share(text: string): number {
  const digits = text.replace(/%$/, '')
  const value = Number(digits) / (digits === text ? 1 : 100)
  if (digits.trim() === '' || !(value >= 0 && value <= 1)) {
    throw new InvalidArgumentError('Expected a share from 0 to 1, or from 0% to 100%.')
  }
  return value
}

/** A number of at least `least`, fractions included. */
export function atLeast(least: number): (text: string) => number {
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

/** Levels of difficulty, one each time the option is given. */
function levels(text: string, before: number[] = []): number[] {
  return [...before, wholeNumber(1)(text)]
}

/** The option of a model that is sampled in this process. */
export function withSamplingWeights(command: Command): Command {
  const about = 'sample with int8: quicker for larger models, and nearly the same policy (default: float32)'
  return command.addOption(new Option('--sampling-weights <type>', about).choices(samplingWeightTypes))
}

/** The options of a model that acts, wherever it runs. */
export function withModel(command: Command): Command {
  return withSamplingWeights(command)
    .option(
      '--temperature <t>',
      "of sampling; 0 is greedy (default: 0; of an endpoint, the model's own)",
      atLeast(0),
    )
    .option(
      '--constrained',
      "calls are held to the tools' schemas while they are written (models trained by agoge)",
    )
    .option(
      '--api-key-env <name>',
      'the environment variable with the key of the endpoint (default: OPENAI_API_KEY)',
    )
    .option(
      '--timeout <seconds>',
      'how long one answer of the endpoint may take (default: 120)',
      atLeast(0.001),
    )
}

/** The options by which a command names its environment. */
export function withEnvironment(command: Command): Command {
  return command
    .argument(
      '[environment]',
      'an environment of `agoge envs`, mcp:NAME for a server of your .mcp.json, or a module that exports one',
      'filesystem',
    )
    .option('--mcp-config <file>', 'where mcp:NAME is looked up, instead of .mcp.json')
    .option(
      '--sandbox',
      'the state behind the server may be destroyed: run every tool, not only those that read',
    )
    .option(
      '--allow <tool>',
      'run this tool although it is not marked as reading only; can be repeated',
      several,
    )
    .option('--max-calls <n>', 'of the tools of mcp:NAME in all', wholeNumber(1))
    .option('--calls-per-second <n>', 'of the tools of mcp:NAME in all', wholeNumber(1))
    .option(
      '--task <name>',
      'a kind of question of the environment reasoning; can be repeated (default: all)',
      several,
    )
    .option('--difficulty <level>', 'of the questions, 1 to 3; can be repeated (default: all)', levels)
    .option('--yes', 'go on without asking after the plan of calls is shown')
}

/** The options by which a command over arrays chooses contexts. */
export function withContexts(command: Command): Command {
  return command
    .option('--vary <features>', 'context features drawn anew for every episode: names with commas, or all')
    .option(
      '--context <feature=value>',
      'a fixed context feature, for example gravity=20; can be repeated',
      several,
    )
}

/** What stands on the command line, without defaults. */
export function typedOptions(command: Command): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(command.opts()).filter(([name]) => command.getOptionValueSource(name) === 'cli'),
  )
}
