import type { AsyncEnvironment, Environment } from '../environment.ts'
import { fastStream } from '../world-random.ts'
import type { World } from '../world.ts'
import { checkContext } from './check-context.ts'
import { checkDefinition } from './check-definition.ts'
import { checkObject } from './check-object.ts'
import { checkEnds, checkPlay } from './check-play.ts'
import { checkDrawing, checkSlots } from './check-slots.ts'
import { drive } from './drive.ts'
import { createFindings, throwFindings } from './finding.ts'
import type { Finding } from './finding.ts'
import { exploreWorld } from './situations.ts'

export interface CheckOptions {
  /** Default 0. */
  seed?: number
  /** Steps of random play. Default 300. */
  steps?: number
  /** Steps after which an episode without a time limit should have ended. Default 100,000; 10,000 for objects. */
  patience?: number
  /** Episodes are meant to have no end. */
  endless?: boolean
  /** Steps of exploration of a world, in each of four contexts, for states to check from. Default 2,000. */
  explore?: number
  /** Context features that are meant to change observations only. */
  observed?: readonly string[]
}

/**
 * Looks for breaches of the contract in a world or in an object with `reset` and `step`, by playing it:
 * - the same seed gives the same play, whatever was played before;
 * - observations and masks lie in their spaces, rewards are finite, ends are booleans and kept apart, and come;
 * - of worlds: a reset writes all of the state, functions write their own slot only, depend on nothing but state,
 *   context, action and random numbers, and keep nothing; every context feature changes a transition or a reset;
 *   drawings come of every state;
 * - of objects: observations are fresh copies, `state` and `restore` go on exactly, every context feature acts.
 *
 * Takes some 0.1 s for a world. For an object whose calls are asynchronous it gives a promise.
 *
 * @throws AgogeError `bad-environment` with all findings, each naming the environment, the step and the field.
 */
export function checkEnvironment(subject: World, options?: CheckOptions): void
export function checkEnvironment(subject: Environment, options?: CheckOptions): void
export function checkEnvironment(subject: AsyncEnvironment, options?: CheckOptions): Promise<void>
export function checkEnvironment(
  subject: World | Environment | AsyncEnvironment,
  options: CheckOptions = {},
): void | Promise<void> {
  const name = subject?.name ?? 'environment'
  const found = findFaults(subject as Environment, options) as Finding[] | Promise<Finding[]>
  if (found instanceof Promise) return found.then((findings) => throwFindings(name, findings))
  throwFindings(name, found)
}

/** What `checkEnvironment` finds, without throwing. */
export function findFaults(subject: World | Environment, options?: CheckOptions): Finding[]
export function findFaults(subject: AsyncEnvironment, options?: CheckOptions): Promise<Finding[]>
export function findFaults(
  subject: World | Environment | AsyncEnvironment,
  { seed = 0, steps = 300, patience, endless = false, explore = 2000, observed = [] }: CheckOptions = {},
): Finding[] | Promise<Finding[]> {
  if (!isWorld(subject))
    return drive(checkObject(subject, { seed, steps, patience: patience ?? 10_000, endless }))
  const findings = createFindings(subject.name)
  checkDefinition(subject, findings)
  if (findings.list.length > 0) return findings.list
  checkPlay(subject, findings, seed, steps)
  if (!endless) checkEnds(subject, findings, seed, patience ?? 100_000)
  const situations = exploreWorld(subject, fastStream('check', 'explore', seed), explore)
  checkSlots(subject, findings, seed, situations.slice(0, 40))
  checkDrawing(subject, findings, situations.slice(0, 40))
  checkContext(subject, findings, seed, situations, observed)
  return findings.list
}

const isWorld = (subject: World | Environment | AsyncEnvironment): subject is World =>
  typeof subject === 'object' && subject !== null && 'stateSize' in subject && 'observe' in subject
