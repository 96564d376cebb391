import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import { importFile } from '../../import-file.ts'
import { confirmPlan } from '../../llm/environment/mcp/plan.ts'
import { type AgogeConfig, checkConfig } from '../../llm/project/config.ts'
import { evaluate, type EvaluationEvent } from '../../llm/project/evaluate.ts'
import { resultFile } from '../../llm/project/evaluation-store.ts'
import { areCertain, type EvaluationResult } from '../../llm/project/evaluation.ts'
import {
  evaluationJunit,
  evaluationMarkdown,
  evaluationNotes,
  evaluationTable,
  regressions,
} from '../../llm/project/evaluation-text.ts'
import { checkFile, writeWhole } from '../../runs/files.ts'
import { percent } from '../../runs/report/format.ts'
import { openRunFolder } from '../../runs/run-folder.ts'
import { readForeignFile } from '../../untrusted/foreign-file.ts'
import { parseForeignJson } from '../../untrusted/foreign-json.ts'
import { visibleBlock, visibleLine } from '../../untrusted/visible-text.ts'
import { type Console, table } from '../shared/console.ts'
import { createProgress } from '../shared/progress.ts'
import { belowThresholdCode } from './eval.ts'

export interface EvalAgentCommand {
  config: string
  trials?: number
  budget?: number
  out?: string
  resume?: string
  baseline?: string
  failOnRegression?: boolean
  threshold?: number
  json?: string
  markdown?: string
  junit?: string
  untilCertain?: boolean
  split?: 'test' | 'all'
  yes?: boolean
}

const configNames = ['ts', 'mts', 'js', 'mjs'].map((ending) => `agoge.config.${ending}`)

/** The config of the current folder; undefined where there is none. */
export function findConfig(): string | undefined {
  return configNames.find((name) => existsSync(name))
}

/** `agoge eval` with a config: evaluates the user's own agent. Returns the exit code. */
export async function runEvalAgent(command: EvalAgentCommand, terminal: Console): Promise<number> {
  const { baseline, json, markdown, junit } = command
  for (const file of [json, markdown, junit]) if (file !== undefined) checkFile(file)
  const earlier = baseline === undefined ? undefined : readResult(baseline)
  if (command.failOnRegression === true && earlier === undefined)
    throw new AgogeError('--fail-on-regression needs something to compare with', {
      code: 'bad-option',
      given: '--fail-on-regression without --baseline',
      expected: `--baseline FOLDER or FILE of an earlier evaluation`,
    })
  const config = withOptions(await readConfig(command.config), command)
  const out = command.resume ?? openRunFolder(pathOrNew(command.out)).path
  const progress = createProgress(terminal.progress)
  terminal.err(`evaluation in ${out}`)
  try {
    const folder = dirname(resolve(command.config))
    const running = evaluate(config, {
      folder,
      shared: join(folder, '.agoge'),
      out,
      resume: command.resume !== undefined,
      async onPlan(plan, needsConsent) {
        if (needsConsent && command.yes !== true) await confirmPlan(plan, { signal: terminal.signal })
        else terminal.err(plan)
      },
      signal: terminal.signal,
      ...defined({ baseline: earlier, untilCertain: command.untilCertain, split: command.split }),
    })
    for await (const event of running) showEvent(event, progress)
    progress.close()
    const result = await running.result
    const { header, rows } = evaluationTable(result)
    // Shown before it is written, so that a full disk does not lose the result.
    terminal.out([table(header, rows), '', ...evaluationNotes(result)].join('\n'))
    if (json !== undefined) writeWhole(json, `${JSON.stringify(result, null, 2)}\n`)
    if (markdown !== undefined) writeWhole(markdown, evaluationMarkdown(result))
    if (junit !== undefined) writeWhole(junit, evaluationJunit(result))
    if (!result.isComplete && !areCertain(result.sequential))
      terminal.err(`${continuing(command, out)} --budget MORE`)
    return exitCode(result, command, terminal)
  } catch (error) {
    if (terminal.signal.aborted) terminal.err(continuing(command, out))
    throw error
  } finally {
    progress.close()
  }
}

/** How to continue: what decides the trials must be given again. */
function continuing({ config, trials, untilCertain, split }: EvalAgentCommand, out: string): string {
  const again = [
    ...(configNames.includes(config) ? [] : ['-c', config]),
    ...(trials === undefined ? [] : ['--trials', trials]),
    ...(untilCertain === true ? ['--until-certain'] : []),
    ...(split === undefined ? [] : ['--split', split]),
  ]
  return ['to continue: agoge eval --resume', out, ...again].join(' ')
}

const pathOrNew = (out: string | undefined): { path: string } | { kind: 'evaluations' } =>
  out === undefined ? { kind: 'evaluations' } : { path: out }

function showEvent(event: EvaluationEvent, progress: ReturnType<typeof createProgress>): void {
  if (event.type === 'plan') {
    const { models, tasks, trials, tools, finished } = event
    progress.line(
      `${tasks} tasks, ${trials === 1 ? 'one trial' : `${trials} trials`} each, with ${models.join(', ')}`,
    )
    for (const tool of tools) progress.line(`tool ${tool}`)
    if (finished > 0) progress.line(`${finished} trials are finished already`)
  } else if (event.type === 'refused')
    for (const { id, reason } of event.tasks)
      progress.line(`not usable: ${visibleLine(id, 128)}: ${visibleBlock(reason, '    ')}`)
  else if (event.type === 'trial')
    progress.event({
      type: 'evaluation',
      stage: 'agent',
      split: 'trials',
      done: event.done,
      total: event.total,
    })
  else if (event.type === 'budget-reached') progress.line('the budget was reached')
  else if (event.type === 'certain') progress.line('every comparison is certain; no further trial is needed')
}

/** Reads a config from its file. @throws AgogeError `bad-config` if it cannot be read or exports something else. */
export async function readConfig(path: string): Promise<AgogeConfig> {
  const file = resolve(path)
  const fail = (given: unknown, cause?: unknown): AgogeError =>
    new AgogeError(`${path} cannot be used as a config`, {
      code: 'bad-config',
      given,
      expected: 'a module with export default defineConfig({ agent, tasks, score, models })',
      ...(cause instanceof Error && 'code' in cause && cause.code === 'ERR_UNKNOWN_FILE_EXTENSION'
        ? { hint: 'This Node reads no TypeScript: npm i -D tsx, or use Node 22.18 or newer' }
        : {}),
      cause,
    })
  if (!existsSync(file)) throw fail('no such file')
  let module: Record<string, unknown>
  try {
    module = await importFile(file)
  } catch (cause) {
    throw fail(String(cause), cause)
  }
  return checkConfig(module['default'])
}

function withOptions(config: AgogeConfig, { trials, budget }: EvalAgentCommand): AgogeConfig {
  return {
    ...config,
    ...defined({ trials }),
    ...(budget !== undefined && { budget: { ...config.budget, dollars: budget } }),
  }
}

/** Reads the result of an earlier evaluation, from its folder or its file. */
export function readResult(path: string): EvaluationResult {
  const file = path.endsWith('.json') ? path : join(path, resultFile)
  const found = readForeignFile(file, parseForeignJson) as Partial<EvaluationResult> | null
  const { schema, models, records } = found ?? {}
  if (schema === 1 && Array.isArray(models) && Array.isArray(records)) return found as EvaluationResult
  throw new AgogeError(`${file} is no result of an evaluation`, {
    code: 'bad-option',
    given: path,
    expected: `the folder of a finished evaluation, or the file of its --json`,
  })
}

/** Exit code 1 if a model was not measured at all, 2 if one stays below the threshold or has become worse. */
function exitCode(
  result: EvaluationResult,
  { threshold, failOnRegression = false }: EvalAgentCommand,
  { err }: Console,
): number {
  const unmeasured = result.models.filter(({ success }) => success.n === 0)
  for (const { name } of unmeasured) err(`${name}: no trial could be judged, so nothing was measured`)
  if (unmeasured.length > 0) return 1
  const below = result.models.filter(({ success }) => threshold !== undefined && success.mean < threshold)
  for (const { name, success } of below)
    err(`${name}: ${percent(success.mean)} is below the threshold of ${percent(threshold ?? 0)}`)
  const worse = failOnRegression ? regressions(result) : []
  for (const { a } of worse) err(`${a} is worse than in the earlier evaluation`)
  return below.length + worse.length === 0 ? 0 : belowThresholdCode
}
