import { dirname, join, relative, resolve } from 'node:path'
import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import { confirmPlan } from '../../llm/environment/mcp/plan.ts'
import { optimise, type OptimiseEvent } from '../../llm/optimise/optimise.ts'
import {
  leverTable,
  leverText,
  planText,
  points,
  resultText,
  testTable,
  unusedLevers,
} from '../../llm/optimise/result-text.ts'
import type { AgogeConfig } from '../../llm/project/config.ts'
import { type AgentSetup, withCheckpointsFrom, withCheckpointsIn } from '../../llm/setup/setup.ts'
import { checkFile, writeWhole } from '../../runs/files.ts'
import { openRunFolder } from '../../runs/run-folder.ts'
import { visibleLine } from '../../untrusted/visible-text.ts'
import { type Console, table } from '../shared/console.ts'
import { createProgress } from '../shared/progress.ts'
import { findConfig, readConfig } from './eval-agent.ts'

export interface OptimiseCommand {
  config?: string
  budget?: number
  tokens?: number
  trials?: number
  proposer?: string
  levers?: string
  seed?: number
  setup?: string
  out?: string
  resume?: string
  json?: string
  dryRun?: boolean
  yes?: boolean
}

/** `agoge optimise`: searches for a setup of the agent of a config. */
export async function runOptimise(command: OptimiseCommand, terminal: Console): Promise<void> {
  const file = command.config ?? findConfig()
  if (file === undefined)
    throw new AgogeError('there is no config here', {
      code: 'bad-option',
      given: 'agoge optimise',
      expected: 'an agoge.config.ts in this folder, or -c FILE',
      hint: 'agoge init writes one',
    })
  const folder = dirname(resolve(file))
  const setupFile = command.setup ?? join(folder, 'agoge.setup.json')
  for (const one of [command.json, setupFile]) if (one !== undefined) checkFile(one)
  const config = withOptions(await readConfig(file), command)
  const progress = createProgress(terminal.progress)
  const out =
    command.dryRun === true ? undefined : (command.resume ?? openRunFolder(placeOf(command.out)).path)
  if (out !== undefined) terminal.err(`search in ${out}`)
  try {
    const running = optimise(config, {
      folder,
      resume: command.resume !== undefined,
      async onPlan(plan, needsConsent) {
        if (needsConsent && command.yes !== true) await confirmPlan(plan, { signal: terminal.signal })
        else terminal.err(plan)
      },
      signal: terminal.signal,
      ...defined({
        out,
        dryRun: command.dryRun,
        proposer: command.proposer,
        levers: command.levers?.split(',').map((name) => name.trim()),
        seed: command.seed,
      }),
    })
    for await (const event of running) showEvent(event, progress)
    progress.close()
    const result = await running.result
    if (result === null) return terminal.out('a dry run: nothing was called')
    const levers = leverTable(result)
    const test = testTable(result)
    terminal.out(
      [
        ...(levers.rows.length === 0 ? [] : [table(levers.header, levers.rows), '']),
        ...unusedLevers(result),
        '',
        ...(test === undefined ? [] : [table(test.header, test.rows), '']),
        ...resultText(result),
      ].join('\n'),
    )
    if (command.json !== undefined) writeWhole(command.json, `${JSON.stringify(result, null, 2)}\n`)
    if (!result.isShown || result.best === null) return
    writeWhole(setupFile, `${JSON.stringify(written(result.best.setup, out, setupFile), null, 2)}\n`)
    terminal.out(
      `wrote ${relative('.', setupFile)}: in a program withSetup(model, '${relative(folder, setupFile)}'), in the config setup: './${relative(folder, setupFile)}'`,
    )
  } catch (error) {
    if (terminal.signal.aborted && out !== undefined) terminal.err(`to continue: ${continuing(command, out)}`)
    throw error
  } finally {
    progress.close()
  }
}

/** The setup with the folders of its trained models relative to its own file, not to the folder of the search. */
const written = (setup: AgentSetup, out: string | undefined, file: string): AgentSetup =>
  withCheckpointsFrom(withCheckpointsIn(setup, out ?? '.'), dirname(resolve(file)))

const placeOf = (out: string | undefined): { path: string } | { kind: 'evaluations' } =>
  out === undefined ? { kind: 'evaluations' } : { path: out }

function continuing({ config, trials, levers, seed, proposer }: OptimiseCommand, out: string): string {
  const again = [
    ...(config === undefined ? [] : ['-c', config]),
    ...(trials === undefined ? [] : ['--trials', trials]),
    ...(proposer === undefined ? [] : ['--proposer', proposer]),
    ...(levers === undefined ? [] : ['--levers', levers]),
    ...(seed === undefined ? [] : ['--seed', seed]),
  ]
  return ['agoge optimise --resume', out, ...again].join(' ')
}

function withOptions(config: AgogeConfig, { budget, tokens, trials }: OptimiseCommand): AgogeConfig {
  const limits = { ...config.budget, ...defined({ dollars: budget, tokens }) }
  return { ...config, ...defined({ trials }), ...(Object.keys(limits).length > 0 && { budget: limits }) }
}

function showEvent(event: OptimiseEvent, progress: ReturnType<typeof createProgress>): void {
  if (event.type === 'plan') for (const line of planText(event.plan)) progress.line(line)
  else if (event.type === 'refused')
    for (const { id, reason } of event.tasks)
      progress.line(`not usable: ${visibleLine(id, 128)}: ${visibleLine(reason, 200)}`)
  else if (event.type === 'phase') progress.line(`${event.phase}: ${event.about}`)
  else if (event.type === 'lever') progress.line(`  ${leverText(event.outcome)}`)
  else if (event.type === 'candidate') {
    const { lever, about, gain, rejected } = event.candidate
    const shown = gain === null ? '' : `${points(gain)}, `
    progress.line(
      `  ${lever}: ${visibleLine(about, 70)}: ${rejected === undefined ? `${points(gain ?? 0)}, kept` : `${shown}${rejected}`}`,
    )
  } else if (event.type === 'trial')
    progress.event({
      type: 'evaluation',
      stage: 'search',
      split: 'trials',
      done: event.done,
      total: event.total,
    })
  else if (event.type === 'budget-reached') progress.line('the budget was reached')
}
