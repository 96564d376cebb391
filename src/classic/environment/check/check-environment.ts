import type { AsyncEnvironment, Environment } from '../environment.ts'
import { fastStream } from '../environment-random.ts'
import type { EnvironmentDefinition } from '../definition.ts'
import { checkArrays, checkContext, checkDrawing } from './check-functions.ts'
import { checkDefinition, createFindings, type Finding, type Findings, throwFindings } from './finding.ts'
import { checkModel, checkEnds, checkPlay } from './check-play.ts'
import { checkObject, drive } from './check-object.ts'
import { exploreEnvironment } from './situations.ts'

/** Options of `checkEnvironment` and `findFaults`. */
export interface CheckEnvironmentOptions {
  /** Default: 0. */
  seed?: number
  /** Steps of random play. Default: 300. */
  steps?: number
  /** Steps after which an episode without a time limit must have ended. Default: 100,000; 10,000 for objects. */
  patience?: number
  /** Accepts episodes without an end. */
  endless?: boolean
  /** Steps of exploration in each of four contexts, which find states to check from. Default: 2,000. */
  explore?: number
  /** Context features that only change observations. */
  observed?: readonly string[]
}

/** Everything that can be checked synchronously. */
export type Checked = EnvironmentDefinition | Environment

/**
 * Checks that a definition, or an object with `reset` and `step`, keeps the contract of environments. Plays it
 * to check that
 * - the same seed gives the same play, independent of earlier play;
 * - observations and masks lie in their spaces, rewards are finite, `terminated` and `truncated` are booleans,
 * and episodes end;
 * - functions of a definition only write their own environment, depend only on state, context, action and
 * random numbers, and store nothing; a reset writes the whole state; every context feature changes a transition
 * or a reset; every state can be drawn; an exact model (`transitions`) agrees with the steps in every context;
 * - objects return fresh observations, `state` and `restore` resume exactly, and every context feature has an
 * effect.
 *
 * Takes about 0.1 s for a definition. Returns a promise for an object with asynchronous calls.
 *
 * @throws AgogeError `bad-environment` with all findings. Each names the environment, the step and the field.
 *
 * @example
 * checkEnvironment(cartPole)
 */
export function checkEnvironment(subject: Checked, options?: CheckEnvironmentOptions): void
export function checkEnvironment(subject: AsyncEnvironment, options?: CheckEnvironmentOptions): Promise<void>
export function checkEnvironment(
  subject: Checked | AsyncEnvironment,
  options: CheckEnvironmentOptions = {},
): void | Promise<void> {
  const name = subject?.name ?? 'environment'
  const found = findFaults(subject as Environment, options) as Finding[] | Promise<Finding[]>
  if (found instanceof Promise) return found.then((findings) => throwFindings(name, findings))
  throwFindings(name, found)
}

/** Returns the findings of `checkEnvironment` without throwing. */
export function findFaults(subject: Checked, options?: CheckEnvironmentOptions): Finding[]
export function findFaults(subject: AsyncEnvironment, options?: CheckEnvironmentOptions): Promise<Finding[]>
export function findFaults(
  subject: Checked | AsyncEnvironment,
  options: CheckEnvironmentOptions = {},
): Finding[] | Promise<Finding[]> {
  const { seed = 0, steps = 300, endless = false } = options
  if (!isEnvironmentDefinition(subject)) {
    const { patience = 10_000 } = options
    return drive(checkObject(subject, { seed, steps, patience, endless }))
  }
  const findings = createFindings(subject.name)
  checkDefinition(subject, findings)
  if (findings.list.length > 0) return findings.list
  try {
    checkPlay(subject, findings, seed, steps)
    if (!endless) checkEnds(subject, findings, seed, options.patience ?? 100_000)
    checkFunctions(subject, findings, options)
  } catch (error) {
    findings.add('throws', 'functions', `throw: ${String(error)}`)
  }
  return findings.list
}

/**
 * Checks without playing: functions, spaces, sizes, ranges of context features.
 *
 * @throws AgogeError `bad-environment` with all findings
 */
export function requireDefinition(definition: EnvironmentDefinition): void {
  const findings = createFindings(definition.name)
  checkDefinition(definition, findings)
  throwFindings(definition.name, findings.list)
}

/** Checks the functions of a definition in states from its whole state space. */
function checkFunctions(
  definition: EnvironmentDefinition,
  findings: Findings,
  { seed = 0, explore = 2000, observed = [] }: CheckEnvironmentOptions,
): void {
  const situations = exploreEnvironment(definition, fastStream('check', 'explore', seed), explore)
  checkArrays(definition, findings, seed, situations.slice(0, 40))
  checkDrawing(definition, findings, situations.slice(0, 40))
  checkContext(definition, findings, seed, situations, observed)
  checkModel(definition, findings, seed, situations.slice(0, 400))
}

const isEnvironmentDefinition = (
  subject: EnvironmentDefinition | Environment | AsyncEnvironment,
): subject is EnvironmentDefinition =>
  typeof subject === 'object' && subject !== null && 'stateSize' in subject && 'observe' in subject
