import type { AsyncEnvironment, Environment } from '../environment.ts'
import { fastStream } from '../environment-random.ts'
import type { EnvironmentDefinition } from '../definition.ts'
import { checkArrays, checkContext, checkDrawing } from './check-functions.ts'
import { checkDefinition, createFindings, type Finding, type Findings, throwFindings } from './finding.ts'
import { checkModel } from './check-model.ts'
import { checkObject, drive } from './check-object.ts'
import { checkEnds, checkPlay } from './check-play.ts'
import { exploreEnvironment } from './situations.ts'

export interface CheckOptions {
  /** Default 0. */
  seed?: number
  /** Steps of random play. Default 300. */
  steps?: number
  /** Steps after which an episode without a time limit should have ended. Default 100,000; 10,000 for objects. */
  patience?: number
  /** Episodes are meant to have no end. */
  endless?: boolean
  /** Steps of exploration of an environment, in each of four contexts, for states to check from. Default 2,000. */
  explore?: number
  /** Context features that are meant to change observations only. */
  observed?: readonly string[]
}

/** What can be checked at once. */
export type Checked = EnvironmentDefinition | Environment

/**
 * Looks for breaches of the contract in an environment or in an object with `reset` and `step`, by playing it:
 * - the same seed gives the same play, whatever was played before;
 * - observations and masks lie in their spaces, rewards are finite, ends are booleans and kept apart, and come;
 * - of environments: a reset writes all of the state, functions write their own environment only, depend on nothing but state,
 *   context, action and random numbers, and keep nothing; every context feature changes a transition or a reset;
 *   drawings come of every state; an exact model (`transitions`) says what steps do, in every context;
 * - of objects: observations are fresh copies, `state` and `restore` go on exactly, every context feature acts.
 *
 * Takes some 0.1 s for an environment. For an object whose calls are asynchronous it gives a promise.
 *
 * @throws AgogeError `bad-environment` with all findings, each naming the environment, the step and the field.
 */
export function checkEnvironment(subject: Checked, options?: CheckOptions): void
export function checkEnvironment(subject: AsyncEnvironment, options?: CheckOptions): Promise<void>
export function checkEnvironment(
  subject: Checked | AsyncEnvironment,
  options: CheckOptions = {},
): void | Promise<void> {
  const name = subject?.name ?? 'environment'
  const found = findFaults(subject as Environment, options) as Finding[] | Promise<Finding[]>
  if (found instanceof Promise) return found.then((findings) => throwFindings(name, findings))
  throwFindings(name, found)
}

/** What `checkEnvironment` finds, without throwing. */
export function findFaults(subject: Checked, options?: CheckOptions): Finding[]
export function findFaults(subject: AsyncEnvironment, options?: CheckOptions): Promise<Finding[]>
export function findFaults(
  subject: Checked | AsyncEnvironment,
  options: CheckOptions = {},
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
 * What can be seen of an environment without playing: functions, spaces, sizes, ranges of context features.
 *
 * @throws AgogeError `bad-environment` with all findings.
 */
export function requireDefinition(definition: EnvironmentDefinition): void {
  const findings = createFindings(definition.name)
  checkDefinition(definition, findings)
  throwFindings(definition.name, findings.list)
}

/** What the functions of an environment do, in states from all over it. */
function checkFunctions(
  definition: EnvironmentDefinition,
  findings: Findings,
  { seed = 0, explore = 2000, observed = [] }: CheckOptions,
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
