import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { bootstrapMean, mean, stratifiedInterquartileMean } from '../evaluation/index.ts'
import type { Estimate } from '../evaluation/index.ts'
import { estimateText, evaluateAgent, findWorld, loadAgent, returnText } from '../training/arrays/index.ts'
import type { Played } from '../training/arrays/index.ts'
import { checkFile, writeWhole } from '../training/whole-file.ts'
import { runKind } from './array-command.ts'
import type { Console } from './console.ts'
import { randomAgent } from './random-agent.ts'
import { table } from './table.ts'

export interface EvalArrayCommand {
  world: string
  model?: string[]
  episodes?: number
  seed: number
  json?: string
}

/** An agent on whole episodes, played greedily. */
export interface AgentReport {
  model: string
  return: Estimate
  /** Mean length of an episode in steps. */
  length: number
  returns: number[]
}

/** `agoge eval WORLD`: mean return of one or several agents, or of acting at random, with intervals. */
export async function runEvalArray(command: EvalArrayCommand, terminal: Console): Promise<void> {
  const { world: name, episodes = 100, seed } = command
  if (command.json !== undefined) checkFile(command.json)
  const world = findWorld(name)
  const reports: AgentReport[] = []
  const lines: string[] = []
  if (command.model === undefined)
    reports.push(report('random', evaluateAgent(randomAgent(world, seed), world, { episodes, seed })))
  for (const model of command.model ?? []) {
    const found: AgentReport[] = []
    for (const folder of runsOf(model)) {
      const { agent } = await loadAgent(folder, name)
      try {
        found.push(report(folder, evaluateAgent(agent, world, { episodes, seed })))
      } finally {
        await agent.dispose()
      }
    }
    reports.push(...found)
    if (found.length > 1) {
      const iqm = stratifiedInterquartileMean([found.map(({ return: { mean } }) => mean)])
      lines.push(`${model}: interquartile mean ${estimateText(iqm)} over ${found.length} seeds`)
    }
  }
  const rows = reports.map(({ model, return: { mean, low, high, n }, length }) => [
    model,
    String(n),
    returnText(mean),
    `${returnText(low)} to ${returnText(high)}`,
    returnText(length),
  ])
  terminal.out(
    [table(['', 'episodes', 'mean return', '95% interval', 'mean length'], rows), ...lines].join('\n'),
  )
  if (command.json !== undefined)
    writeWhole(
      command.json,
      `${JSON.stringify({ schema: 1, world: name, seed, episodes, reports }, null, 2)}\n`,
    )
}

/** The run folder itself, or those of its seeds. */
export function runsOf(folder: string): string[] {
  if (!existsSync(folder) || runKind(folder) !== 'seeds') return [folder]
  return readdirSync(folder)
    .filter((name) => /^seed-\d+$/.test(name))
    .sort((a, b) => Number(a.slice(5)) - Number(b.slice(5)))
    .map((name) => join(folder, name))
}

function report(model: string, { returns, lengths }: Played): AgentReport {
  const values = Array.from(returns)
  return { model, return: bootstrapMean(values), length: mean(lengths), returns: values }
}
