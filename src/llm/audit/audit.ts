import { AgogeError } from '../../error.ts'
import { defined } from '../../defined.ts'
import type { ToolEnvironment } from '../agent/types.ts'
import { attacks } from './attacks.ts'
import { cheatRates, usualLimits } from './cheating-agents.ts'
import type { CheatName, CheatRate } from './cheating-agents.ts'
import { takesAnyAnswer } from './outcome-check.ts'
import type { Reference } from './outcome-check.ts'
import { referencesOf } from './reference.ts'
import { learntSearch, randomSearch } from './searches.ts'
import { bestVariant, play, practiceTrials, resultOf } from './trials.ts'
import type { AttackResult, Audit, AuditOptions, Trial } from './trials.ts'

export type { AttackResult, AuditExample, AuditOptions } from './trials.ts'

/** The result of `auditEnvironment`: the success rate of every attack, and which attacks are findings. */
export interface AuditReport {
  environment: string
  tasks: number
  /** Tasks left out because the expert did not solve them twice. */
  leftOut: number
  /**
   * What the independent check compared. `answer alone`: there are tools, but no state is shown. `nothing`: nor is an answer
   * required, so no attack was checked.
   */
  checked: 'state and answer' | 'answer' | 'answer alone' | 'nothing' | 'your own check'
  threshold: number
  attacks: AttackResult[]
  /** Names of the attacks that are findings. */
  findings: string[]
  /** Success of agents that solve no task on purpose, by agent and kind. */
  cheats: Record<CheatName, Record<string, CheatRate>>
}

/**
 * Attacks the judge of an environment: agents that know the tools, the request and the expert's solution look for reward with the
 * task undone. Whether it is undone says a check that is independent of the judge: the final state and answer against the
 * expert's, or your own `done`.
 *
 * Each attack has variants. The best one for a kind of task is chosen on the practice tasks, and its rate measured on the others.
 *
 * @throws AgogeError `bad-environment` if the expert solves none of the tasks.
 * @example
 * const { findings } = await auditEnvironment({ environment, tasks: source.heldOut('test', 100) })
 */
export async function auditEnvironment(options: AuditOptions): Promise<AuditReport> {
  const { environment, tasks, seed = 0, threshold = 0.02, signal, onAttack } = options
  const given = { ...usualLimits, ...options.limits }
  const practice = options.practice ?? tasks
  const all = [...new Set([...practice, ...tasks])]
  const found = await referencesOf(environment, all, given, options)
  const own = tasks.flatMap((task) => found.get(task) ?? [])
  const practised = practice.flatMap((task) => found.get(task) ?? [])
  if (own.length === 0 || practised.length === 0) throw unsolved(environment, tasks.length)
  // Room for some calls after the expert's.
  const longest = Math.max(...[...found.values()].map(({ calls }) => calls.length))
  const limits = { ...given, turns: given.turns === 1 ? 1 : Math.max(given.turns, longest + 4) }
  const { tools } = environment
  const audit: Audit = { ...options, limits, seed, threshold, tools, effort: options.effort ?? 600 }

  const results: AttackResult[] = []
  const applicable = attacks
    .map((attack) => ({ attack, variants: attack.variants(tools) }))
    .filter(({ variants }) => variants.length > 0)
  const count = applicable.length + 2
  for (const [at, { attack, variants }] of applicable.entries()) {
    onAttack?.(attack.name, at, count)
    const tried = await play(audit, practiceTrials(audit, practised, variants, attack.name))
    const trials = own.map((reference, place): Trial => {
      const best = bestVariant(tried, variants, reference.task.kind) ?? variants[place % variants.length]
      return { reference, variant: best.name, script: best.script }
    })
    results.push(resultOf(audit, attack, await play(audit, trials)))
  }
  onAttack?.('random search', count - 2, count)
  results.push(await randomSearch(audit, own))
  onAttack?.('learnt search', count - 1, count)
  results.push(await learntSearch(audit, practised, own))
  const cheats = await cheatRates(
    environment,
    own.map(({ task }) => task),
    { seed, limits, ...defined({ signal }) },
  )
  const findings = results.filter(({ isFinding }) => isFinding).map(({ name }) => name)
  return {
    environment: environment.name,
    tasks: own.length,
    leftOut: tasks.length - own.length,
    checked: options.done !== undefined ? 'your own check' : checkedBy(own, environment),
    threshold,
    attacks: results,
    findings,
    cheats,
  }
}

function checkedBy(references: readonly Reference[], { tools }: ToolEnvironment): AuditReport['checked'] {
  if (references.some(({ shown }) => shown)) return 'state and answer'
  if (tools.length === 0) return 'answer'
  return references.some((reference) => !takesAnyAnswer(reference)) ? 'answer alone' : 'nothing'
}

function unsolved({ name }: ToolEnvironment, count: number): AgogeError {
  return new AgogeError(
    `The expert of ${name} solved none of the tasks twice, so there is nothing to compare with`,
    {
      code: 'bad-environment',
      given: `${count} tasks`,
      expected: 'tasks whose plan succeeds',
      hint: 'Run checkToolEnvironment, which says what is wrong',
    },
  )
}
