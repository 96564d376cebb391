import { choiceCounts, sampleMaskOf } from '../action-masks.ts'
import type { ContextSpace } from '../context.ts'
import { type EnvironmentStream, fastStream } from '../environment-random.ts'
import type { AsyncEnvironment, Environment, ResetOptions } from '../environment.ts'
import { isArraySpace } from '../object-envs.ts'
import { explainMismatch } from '../space.ts'
import { sampleSpace } from '../space-sample.ts'
import type { Space } from '../space.ts'
import { createFindings, type Finding, type Findings } from './finding.ts'

/** Work that yields results to wait for. Values are passed back at once, promises when they resolve. */
type Work<T> = Generator<unknown, T, unknown>

/** Runs work to its end. Returns a promise only if a result is a promise. */
export function drive<T>(work: Work<T>): T | Promise<T> {
  let turn = work.next()
  while (turn.done !== true) {
    const given = turn.value
    if (given instanceof Promise) return driveOn(work, given)
    turn = work.next(given)
  }
  return turn.value
}

async function driveOn<T>(work: Work<T>, first: Promise<unknown>): Promise<T> {
  let given: unknown = first
  for (;;) {
    let turn: IteratorResult<unknown, T>
    try {
      turn = work.next(await given)
    } catch (error) {
      turn = work.throw(error)
    }
    if (turn.done === true) return turn.value
    given = turn.value
  }
}

/** Whether two values are equal, entry by entry. NaN equals itself. */
function same(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null) return false
  const keys = Object.keys(one)
  return (
    keys.length === Object.keys(other).length &&
    keys.every((key) => same((one as Record<string, unknown>)[key], (other as Record<string, unknown>)[key]))
  )
}

/** A mask in the form that `sampleSpace` takes, or undefined without a mask or if it allows no action. */
const sampled = (space: Space, mask: ArrayLike<number> | undefined): unknown =>
  mask === undefined || !isArraySpace(space) ? undefined : sampleMaskOf(space, Uint8Array.from(mask))

/**
 * Checks a mask of an object. Returns false if it allows no action.
 *
 * @param whose for the message, for example `of nought `
 */
function lookAtMask(
  space: Space,
  mask: ArrayLike<number>,
  findings: Findings,
  step: number,
  whose = '',
): boolean {
  const entries = Array.from(mask)
  const n = isArraySpace(space) ? choiceCounts(space).reduce((sum, count) => sum + count, 0) : 0
  if (n === 0 || entries.length !== n) {
    findings.add(
      'mask',
      'actionMask',
      `${whose}has ${entries.length} entries, expected one for each of the ${n} choices`,
      { step },
    )
    return false
  }
  if (entries.some((entry) => entry !== 0 && entry !== 1))
    findings.add('mask', 'actionMask', `${whose}is ${entries.join(' ')}, expected zeros and ones`, { step })
  if (sampled(space, mask) !== undefined) return true
  findings.add('mask', 'actionMask', `${whose}allows no action`, { step })
  return false
}

type AnyEnvironment = Environment | AsyncEnvironment

/** A copy of the result of a reset or a step. */
interface Shown {
  observation: unknown
  reward: unknown
  terminated: unknown
  truncated: unknown
  mask: unknown
}

/** Stops the checks after a fault that makes the others meaningless. */
const stop = Symbol('stop')

/** The checks of an object with `reset` and `step`, synchronous or not. */
export function* checkObject(
  env: AnyEnvironment,
  options: { seed: number; steps: number; patience: number; endless: boolean },
): Work<Finding[]> {
  const findings = createFindings(env?.name ?? 'environment')
  try {
    checkFields(env, findings)
    const one = yield* play(env, findings, options.seed, options.steps)
    yield* play(env, findings, options.seed + 1, 7)
    const again = yield* play(env, findings, options.seed, options.steps)
    compare(one, again, (field, step) =>
      findings.add('determinism', field, 'differs from the same play from the same seed', { step }),
    )
    if (!options.endless) yield* checkEnd(env, findings, options)
    yield* checkResume(env, findings, options.seed)
    if (env.contextSpace !== undefined) yield* checkFeatures(env, env.contextSpace, findings, options.seed)
  } catch (error) {
    if (error !== stop) throw error
  }
  return findings.list
}

function checkFields(env: AnyEnvironment, findings: Findings): void {
  for (const field of ['observationSpace', 'actionSpace'] as const)
    if (typeof env?.[field]?.type !== 'string') findings.add('definition', field, 'is not a space')
  for (const field of ['reset', 'step'] as const)
    if (typeof env?.[field] !== 'function') findings.add('definition', field, 'is not a function')
  if (findings.list.length > 0) throw stop
}

/** Calls the environment. An error becomes a finding. */
function* call<T>(findings: Findings, field: string, step: number, act: () => T | Promise<T>): Work<T> {
  try {
    return (yield act()) as T
  } catch (error) {
    findings.add('throws', field, `throws: ${String(error)}`, { step })
    throw stop
  }
}

function* begin(env: AnyEnvironment, findings: Findings, options: ResetOptions): Work<Shown> {
  const result: unknown = yield* call(findings, 'reset', 0, () => env.reset(options))
  return look(env, findings, result, 0)
}

/** Random play with resets at ends. Returns all results. */
function* play(
  env: AnyEnvironment,
  findings: Findings,
  seed: number,
  steps: number,
  options: ResetOptions = {},
): Work<Shown[]> {
  const random = fastStream('check', 'object', seed)
  const shown = [yield* begin(env, findings, { ...options, seed })]
  for (let t = 1; t <= steps; t++) {
    const next = yield* step(env, findings, random, t)
    shown.push(next)
    if (next.terminated === true || next.truncated === true) shown.push(yield* begin(env, findings, options))
  }
  return shown
}

function* step(env: AnyEnvironment, findings: Findings, random: EnvironmentStream, t: number): Work<Shown> {
  const mask = env.actionMask?.()
  const action = sampleSpace(env.actionSpace, random, { mask: sampled(env.actionSpace, mask) as never })
  const last = lastShown.get(env)
  const result: unknown = yield* call(findings, 'step', t, () => env.step(action as never))
  if (last !== undefined && !same(last.given, last.copy)) {
    findings.add(
      'fresh',
      'observation',
      'was overwritten by the step after it: give a fresh copy each time',
      {
        step: t,
      },
    )
  }
  const shown = look(env, findings, result, t)
  const entries = result as Record<string, unknown>
  if ('done' in entries && !('terminated' in entries))
    findings.add('ends', 'done', 'says that an episode is over, but not why: give terminated and truncated', {
      step: t,
    })
  else {
    for (const field of ['terminated', 'truncated'] as const)
      if (typeof entries[field] !== 'boolean')
        findings.add('ends', field, `is ${String(entries[field])}, expected true or false`, { step: t })
  }
  if (!Number.isFinite(entries.reward))
    findings.add('not-finite', 'reward', `is ${String(entries.reward)}, expected a finite number`, {
      step: t,
    })
  return shown
}

/** The last observation of each environment, and a copy of it. */
const lastShown = new WeakMap<AnyEnvironment, { given: unknown; copy: unknown }>()

function look(env: AnyEnvironment, findings: Findings, result: unknown, t: number): Shown {
  if (typeof result !== 'object' || result === null || !('observation' in result)) {
    findings.add('shape', t === 0 ? 'reset' : 'step', 'gives no object with an observation', { step: t })
    throw stop
  }
  const { observation, info, reward, terminated, truncated } = result as Record<string, unknown>
  const why = explainMismatch(env.observationSpace, observation, 'it')
  if (why !== undefined) findings.add('space', 'observation', `leaves its space: ${why}`, { step: t })
  if (info !== undefined && (typeof info !== 'object' || info === null))
    findings.add('shape', 'info', `is a ${typeof info}, expected an object`, { step: t })
  const mask = env.actionMask?.()
  if (mask !== undefined && !lookAtMask(env.actionSpace, mask, findings, t)) throw stop
  const copy: unknown = structuredClone(observation)
  lastShown.set(env, { given: observation, copy })
  return { observation: copy, reward, terminated, truncated, mask: mask && Array.from(mask) }
}

function* checkEnd(
  env: AnyEnvironment,
  findings: Findings,
  { seed, patience }: { seed: number; patience: number },
): Work<void> {
  const random = fastStream('check', 'patience', seed)
  yield* begin(env, findings, { seed })
  for (let t = 1; t <= patience; t++) {
    const { terminated, truncated } = yield* step(env, findings, random, t)
    if (terminated === true || truncated === true) return
  }
  findings.add('endless', 'terminated', `and truncated never came in ${patience} steps of random play`)
}

/** Checks that `state` is enough to resume exactly. */
function* checkResume(env: AnyEnvironment, findings: Findings, seed: number): Work<void> {
  if (env.state === undefined || env.restore === undefined) return
  yield* play(env, findings, seed, 3)
  const rest = function* (): Work<Shown[]> {
    const random = fastStream('check', 'resume', seed)
    const shown: Shown[] = []
    for (let t = 1; t <= 20; t++) {
      const next = yield* step(env, findings, random, t)
      shown.push(next)
      if (next.terminated === true || next.truncated === true) shown.push(yield* begin(env, findings, {}))
    }
    return shown
  }
  yield* begin(env, findings, {})
  const state = structuredClone(env.state())
  const one = yield* rest()
  env.restore(state)
  lastShown.delete(env)
  compare(one, yield* rest(), (field, step) =>
    findings.add('resume', field, 'differs after restore: state() does not hold all there is', { step }),
  )
}

/** Checks that every context feature changes a result. */
function* checkFeatures(
  env: AnyEnvironment,
  space: ContextSpace,
  findings: Findings,
  seed: number,
): Work<void> {
  for (const [name, { default: usual, low, high, extrapolate = [] }] of Object.entries(space)) {
    const values = [...new Set([low, high, ...extrapolate])].filter((value) => value !== usual)
    if (!(yield* acts(env, findings, seed, name, values)))
      findings.add('context', name, 'changes nothing in 300 steps of random play')
  }
}

function* acts(
  env: AnyEnvironment,
  findings: Findings,
  seed: number,
  name: string,
  values: readonly number[],
): Work<boolean> {
  for (let k = 0; k < 3; k++) {
    const base = yield* play(env, findings, seed + k, 100)
    for (const value of values) {
      const other = yield* play(env, findings, seed + k, 100, { context: { [name]: value } })
      if (compare(base, other)) return true
    }
  }
  return false
}

/** Whether two plays differ. `differs` gets the first difference. */
function compare(
  one: readonly Shown[],
  other: readonly Shown[],
  differs?: (field: string, step: number) => void,
): boolean {
  for (const [t, shown] of one.entries()) {
    const field = (['observation', 'reward', 'terminated', 'truncated', 'mask'] as const).find(
      (name) => !same(shown[name], other[t]?.[name]),
    )
    if (field === undefined) continue
    differs?.(field, t)
    return true
  }
  return false
}
