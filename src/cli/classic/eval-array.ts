import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { defined } from '../../defined.ts'
import type { ClassicAgent } from '../../classic/algorithm/agent.ts'
import { choiceCounts, rowSize } from '../../classic/environment/index.ts'
import type { Playable, EnvironmentDefinition } from '../../classic/environment/index.ts'
import {
  intervalText,
  meanInterval,
  stratifiedInterquartileMean,
  average,
} from '../../statistics/statistics.ts'
import type { MeanEstimate } from '../../statistics/statistics.ts'
import { agentReturns, cutOffNote, evaluateAgent } from '../../classic/training/evaluate-agent.ts'
import { estimateText, returnText } from '../../classic/training/report.ts'
import { evaluationContexts } from '../../classic/training/context-settings.ts'
import type { ContextSettings } from '../../classic/training/context-settings.ts'
import { loadAgent } from '../../classic/training/load-agent.ts'
import { openNamed } from '../../classic/training/find-run.ts'
import { checkFile, writeWhole } from '../../runs/files.ts'
import { table } from '../shared/console.ts'
import type { Console } from '../shared/console.ts'
import { readContexts, readSets } from './setting-options.ts'
import type { ContextOptions } from './setting-options.ts'
import { runKind } from '../shared/runs.ts'
import { createRandom } from '../../engine/random/index.ts'

export interface EvalArrayCommand extends ContextOptions {
  environment: string
  model?: string[]
  episodes?: number
  seed: number
  json?: string
  set?: string[]
}

/** Result of an agent on whole episodes of a context set, played greedily. */
export interface AgentReport {
  model: string
  set: string
  return: MeanEstimate
  /** Mean episode length in steps. */
  length: number
  returns: number[]
  /** Of environments with several agents: the mean return of each, by name. */
  agents?: Readonly<Record<string, number>>
}

/** `agoge eval ENVIRONMENT`: mean return of agents, or of random actions, with intervals. */
export async function runEvalArray(command: EvalArrayCommand, terminal: Console): Promise<void> {
  const { environment: name, episodes = 100, seed } = command
  if (command.json !== undefined) checkFile(command.json)
  const { definition, playable } = await openNamed(name)
  const reports: AgentReport[] = []
  const lines: string[] = []

  /** Evaluates on each context set: those given, or those that the agent was trained with. */
  async function play(
    model: string,
    agent: Pick<ClassicAgent, 'predict' | 'memorySize'>,
    seen: Playable = playable,
    trained?: ContextSettings,
  ): Promise<AgentReport[]> {
    const asked = readContexts(definition, command, trained)
    const contexts =
      command.set !== undefined && asked.vary.length === 0
        ? readContexts(definition, { ...command, vary: 'all' }, trained)
        : asked
    const reports: AgentReport[] = []
    for (const set of readSets(definition, contexts, command.set)) {
      const contextFor = evaluationContexts(definition, contexts, set, seed)
      const played = await evaluateAgent(agent, seen, { episodes, seed, contextFor })
      const { returns, lengths } = played
      const warning = cutOffNote(definition, played)
      if (warning !== undefined) terminal.err(`${model}: ${warning}`)
      const values = Array.from(returns)
      reports.push({
        model,
        set,
        return: meanInterval(values),
        length: average(lengths),
        returns: values,
        ...defined({ agents: agentReturns(played) }),
      })
    }
    return reports
  }

  if (command.model === undefined) reports.push(...(await play('random', randomAgent(definition, seed))))
  for (const model of command.model ?? []) {
    const runs = runsOf(model)
    const found: AgentReport[] = []
    for (const folder of runs) {
      const { agent, playable: seen, contexts } = await loadAgent(folder, name)
      try {
        found.push(...(await play(folder, agent, seen, contexts)))
      } finally {
        await agent.dispose()
      }
    }
    reports.push(...found)
    if (runs.length === 1) continue
    for (const set of new Set(found.map((report) => report.set))) {
      const means = found.filter((report) => report.set === set).map((report) => report.return.mean)
      const iqm = stratifiedInterquartileMean([means])
      const where = set === 'default' ? '' : ` on ${set} contexts`
      lines.push(`${model}: interquartile mean ${estimateText(iqm)} over ${means.length} seeds${where}`)
    }
  }
  terminal.out([reportsTable(reports), ...lines].join('\n'))
  if (command.json !== undefined)
    writeWhole(
      command.json,
      `${JSON.stringify({ schema: 1, environment: name, seed, episodes, reports }, null, 2)}\n`,
    )
}

/** Names the context set, unless it is the default. */
function reportsTable(reports: readonly AgentReport[]): string {
  const vary = reports.some(({ set }) => set !== 'default')
  const names = Object.keys(reports[0]?.agents ?? {})
  const rows = reports.map(({ model, set, return: found, length, agents }) => [
    model,
    ...(vary ? [set] : []),
    String(found.n),
    returnText(found.mean),
    intervalText(found, returnText),
    ...names.map((name) => returnText(agents?.[name] ?? NaN)),
    returnText(length),
  ])
  const header = [
    '',
    ...(vary ? ['contexts'] : []),
    'episodes',
    'mean return',
    '95% interval',
    ...names,
    'mean length',
  ]
  return table(header, rows)
}

/** The run folder itself, or those of its seeds. */
export function runsOf(folder: string): string[] {
  if (!existsSync(folder) || runKind(folder) !== 'seeds') return [folder]
  return readdirSync(folder)
    .filter((name) => /^seed-\d+$/.test(name))
    .sort((a, b) => Number(a.slice(5)) - Number(b.slice(5)))
    .map((name) => join(folder, name))
}

/** Makes an agent that draws uniformly from the allowed actions. Unbounded actions are normally distributed. */
export function randomAgent({ action }: EnvironmentDefinition, seed: number): Pick<ClassicAgent, 'predict'> {
  const random = createRandom('random-agent', seed)
  const size = rowSize(action)
  const counts = choiceCounts(action)
  const choices = counts.reduce((sum, n) => sum + n, 0)
  const start = action.type === 'discrete' ? action.start : 0

  /** Draws an allowed action, if there are masks. */
  function allowed(mask: Uint8Array, from: number, n: number): number {
    const choices: number[] = []
    for (let i = 0; i < n; i++) if (mask[from + i] === 1) choices.push(i)
    return choices.length === 0 ? 0 : random.pick(choices)
  }

  function choose(k: number): number {
    switch (action.type) {
      case 'discrete':
        return action.start + random.int(action.n)
      case 'multi-discrete':
        return random.int(action.counts[k])
      case 'multi-binary':
        return random.int(2)
      case 'box': {
        const [low, high] = [action.low[k], action.high[k]]
        if (Number.isFinite(high - low)) return low + (high - low) * random.next()
        return Math.min(Math.max(random.normal(), low), high)
      }
    }
  }

  return {
    predict(_observations, rows, actions, mask) {
      for (let row = 0; row < rows; row++) {
        let from = row * choices
        for (let k = 0; k < size; k++) {
          if (mask === undefined) actions[row * size + k] = choose(k)
          else actions[row * size + k] = start + allowed(mask, from, counts[k])
          from += counts[k]
        }
      }
    },
  }
}
