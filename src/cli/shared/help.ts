import type { Command, Help } from 'commander'
import { appliesTo, describedFor, environmentKind } from './options.ts'
import type { EnvironmentKind } from './options.ts'

/** Help is always 80 columns wide, so that it looks the same everywhere. */
const width = 80

/** Examples by kind of environment, or for all kinds. */
export type Examples = Readonly<Record<string, readonly string[]>>

/** Kind of the environment on the command line, or of the default. Commands without an environment show all options. */
function kindOn(command: Command): EnvironmentKind {
  if (command.opts()['config'] !== undefined) return 'agent'
  const [named] = command.args
  const isTyped = named !== undefined && !named.startsWith('-')
  const [argument] = command.registeredArguments
  if (argument?.name() !== 'environment') return 'module'
  return environmentKind(isTyped ? named : String(argument.defaultValue ?? 'cartpole'))
}

/** Help of a command: the options of the named environment, then two examples. */
export function showHelpFor(
  command: Command,
  examples: Examples,
  more?: (kind: EnvironmentKind) => string,
): void {
  command.configureHelp({
    helpWidth: width,
    visibleOptions(cmd) {
      const kind = kindOn(cmd)
      return cmd.options.filter((option) => !option.hidden && appliesTo(option, kind))
    },
    optionDescription(option) {
      const described = describedFor(option, kindOn(command))
      const choices = option.argChoices === undefined ? '' : ` (choices: ${option.argChoices.join(', ')})`
      const isShown = option.defaultValue !== undefined && !described.includes('default:')
      return `${described}${choices}${isShown ? ` (default: ${String(option.defaultValue)})` : ''}`
    },
  })
  command.addHelpText('after', () => {
    const kind = kindOn(command)
    const lines = examples[kind] ?? examples.all ?? []
    return [...[more?.(kind)].filter(Boolean), '', 'Examples:', ...lines.map((line) => `  ${line}`)].join(
      '\n',
    )
  })
}

/** Where the options of MCP servers are, for the help of a command that does not show them. */
export const optionsOfServers =
  (command: string) =>
  (kind: EnvironmentKind): string =>
    kind === 'mcp' || kind === 'module' ? '' : `\nOptions of MCP servers: agoge ${command} mcp:NAME --help`

/** Help of `agoge` itself, at most 24 lines: the commands in two columns. */
export function rootHelp(root: Command, helper: Help): string {
  const commands = helper.visibleCommands(root).filter((command) => command.name() !== 'help')
  const longest = Math.max(...commands.map((command) => command.name().length))
  const entries = commands.map((command) => `  ${command.name().padEnd(longest)}  ${command.summary()}`)
  const half = Math.ceil(entries.length / 2)
  return [
    'Usage: agoge COMMAND [ENVIRONMENT] [OPTIONS]',
    '',
    root.description(),
    '',
    ...entries
      .slice(0, half)
      .map((entry, at) => `${entry.padEnd(width / 2)}${entries[half + at] ?? ''}`.trimEnd()),
    '',
    'ENVIRONMENT: filesystem, a name from `agoge envs`, mcp:NAME, or a FILE.ts',
    '  agoge train mcp:everything --quick           a language model learns its tools',
    '  agoge COMMAND [ENVIRONMENT] --help           options and examples; --version',
    '',
  ].join('\n')
}

/** Two columns, names and descriptions, within the width of help. */
export function listed(items: readonly (readonly [name: string, about: string])[]): string[] {
  const column = Math.max(...items.map(([name]) => name.length)) + 4
  return items.flatMap(([name, about]) => {
    const lines: string[] = []
    for (const word of about.split(' ')) {
      const last = lines.at(-1)
      if (last !== undefined && last.length + word.length < width - column)
        lines[lines.length - 1] = `${last} ${word}`
      else lines.push(word)
    }
    return lines.map((line, i) => `${(i === 0 ? `  ${name}` : '').padEnd(column)}${line}`)
  })
}
