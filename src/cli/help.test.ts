import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { toolEnvironments } from '../llm/environment/catalogue.ts'
import { createProgram, runCli } from './run-cli.ts'
import { appliesTo, environmentKind } from './shared/options.ts'

async function help(words: string): Promise<string> {
  let out = ''
  const code = await runCli([...words.split(' ').filter(Boolean), '--help'], {
    out: (text) => {
      out += `${text}\n`
    },
    err: () => {},
    progress: { write: () => {} },
    signal: new AbortController().signal,
    debug: false,
  })
  expect(code).toBe(0)
  return out.trimEnd()
}

const program = createProgram(
  {
    out: () => {},
    err: () => {},
    progress: { write: () => {} },
    signal: new AbortController().signal,
    debug: false,
  },
  'agoge',
  () => {},
)
const leaves = (command: Command, path: string): { path: string; command: Command }[] =>
  command.commands.length === 0
    ? [{ path, command }]
    : command.commands.flatMap((inner) => leaves(inner, `${path} ${inner.name()}`.trim()))
const commands = leaves(program, '')
const environments = ['cartpole', 'mcp:x', './x.ts', ...Object.keys(toolEnvironments)]

test('agoge --help fits a screen', async () => {
  const lines = (await help('')).split('\n')
  expect(lines.length).toBeLessThanOrEqual(24)
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80)
  for (const { path } of commands) {
    const [name] = path.split(' ')
    const { length } = lines.filter((line) => new RegExp(`^(?: {2}|.{40} {2})${name} +\\S`).test(line))
    expect(length, name).toBe(1)
  }
})

test.each(commands)(
  'agoge $path --help is at most 80 columns wide and has two examples',
  async ({ path, command }) => {
    const takesEnvironment = command.registeredArguments[0]?.name() === 'environment'
    for (const environment of ['', ...(takesEnvironment ? environments : [])]) {
      const shown = await help(`${path} ${environment}`)
      for (const line of shown.split('\n')) expect(line.length, line).toBeLessThanOrEqual(80)
      const examples = shown.split('Examples:\n')[1].split('\n')
      expect(examples).toHaveLength(2)
      for (const example of examples) checkExample(example, path, command)
    }
  },
)

/** The command exists, and so do its options, for the environment that stands there. */
function checkExample(example: string, path: string, command: Command): void {
  const words = example.trim().split(' ')
  expect(`${words.join(' ')} `).toContain(`agoge ${path} `)
  const [argument] = command.registeredArguments
  const named = words[1 + path.split(' ').length] ?? '--'
  const environment = named.startsWith('-') ? String(argument?.defaultValue) : named
  for (const word of words.slice(0, words.includes('&&') ? words.indexOf('&&') : undefined)) {
    if (!word.startsWith('--')) continue
    const option = command.options.find(({ long }) => long === word)
    expect(option, `${word} in ${example}`).toBeDefined()
    if (argument?.name() === 'environment' && option !== undefined)
      expect(appliesTo(option, environmentKind(environment)), `${word} in ${example}`).toBe(true)
  }
}

test('help has the options of the environment that is named, and no others', async () => {
  const [classic, server, reasoning] = await Promise.all(
    ['train cartpole', 'train mcp:x', 'train reasoning'].map(help),
  )
  for (const option of ['--encoder', '--num-envs', '--vary', '--seeds']) {
    expect(classic).toContain(option)
    expect(server).not.toContain(option)
    expect(reasoning).not.toContain(option)
  }
  for (const option of ['--lora', '--tasks', '--quick']) {
    expect(classic).not.toContain(option)
    expect(server).toContain(option)
  }
  expect(server).toContain('--sandbox')
  expect(reasoning).not.toContain('--sandbox')
  expect(reasoning).toContain('--difficulty')
  expect(server).not.toContain('--difficulty')
  expect(classic).toMatch(/--steps <n> +of the environment/)
  expect(server).toMatch(/--steps <n> +of reinforcement learning/)
})
