import { writeContext } from '../context.ts'
import type { EnvArrays, EnvironmentDefinition } from '../definition.ts'
import { type EnvironmentStream, fastStream } from '../environment-random.ts'
import type { Findings } from './finding.ts'
import {
  allocateArrays,
  type ArrayName,
  arrayNames,
  arrayWidths,
  type EnvRow,
  firstDifference,
  look,
  readEnv,
  repeatable,
  type Situation,
  writeRandomAction,
} from './situations.ts'

const calls = ['reset', 'step', 'observe', 'mask'] as const
type Call = (typeof calls)[number]
/** The arrays that each function may write. Steps and resets may also write what the functions after them write. */
const writes: Readonly<Record<Call, readonly ArrayName[]>> = {
  reset: ['state', 'observations', 'actionMask', 'rewards', 'terminated'],
  step: ['state', 'rewards', 'terminated', 'observations', 'actionMask'],
  observe: ['observations'],
  mask: ['actionMask'],
}
/** The arrays that each function must overwrite completely. */
const owes: Readonly<Record<Call, readonly ArrayName[]>> = {
  reset: ['state'],
  step: ['state', 'rewards', 'terminated'],
  observe: ['observations'],
  mask: ['actionMask'],
}

/** The arrays that each function may read. */
const inputs: Readonly<Record<Call, readonly ArrayName[]>> = {
  reset: ['context'],
  step: ['state', 'context', 'actions'],
  observe: ['state', 'context'],
  mask: ['state', 'context'],
}
/** Arrays of the environment that contain other numbers than 0 before the call. */
type Garbage = { value: number; arrays: readonly ArrayName[] }

/**
 * Checks that every function works on row i only: it writes no other row, reads only state, context, action and
 * random numbers, and stores nothing between calls or episodes.
 */
export function checkArrays(
  definition: EnvironmentDefinition,
  findings: Findings,
  seed: number,
  situations: readonly Situation[],
): void {
  for (const [at, situation] of situations.entries()) {
    const { again } = repeatable('check', 'environments', seed, at)
    for (const call of calls) {
      if (call === 'mask' && arrayWidths(definition).actionMask === 0) continue
      const run = (count: number, i: number, garbage?: Garbage): EnvRow => {
        const envs = prepare(definition, count, i, situation, call, garbage)
        const before = Array.from({ length: count }, (_, k) => readEnv(definition, envs, k))
        act(definition, call, envs, i, again())
        lookAtNeighbours(definition, call, envs, i, before, situation.step, findings)
        return readEnv(definition, envs, i)
      }
      const expected = run(1, 0)
      const compare = (check: string, other: EnvRow, what: string): boolean => {
        const field = firstDifference(expected, other, owes[call])
        if (field !== undefined) findings.add(check, field, `${what} (${call})`, { step: situation.step })
        return field === undefined
      }
      const repeats = compare(
        'memory',
        run(1, 0),
        'differs between two calls that are alike: something is kept, or chance comes from elsewhere',
      )
      if (!repeats) continue
      const own = owes[call].filter((array) => !inputs[call].includes(array))
      const foreign = arrayNames.filter((array) => !inputs[call].includes(array) && !own.includes(array))
      for (const value of [NaN, 41.5]) {
        compare(
          'left-over',
          run(1, 0, { value, arrays: own }),
          call === 'reset'
            ? 'depends on what was in the environment before: a reset has to write all of the state'
            : 'depends on what was there before: it has to be written by every call',
        )
        compare(
          'reads',
          run(1, 0, { value, arrays: foreign }),
          `depends on more than ${inputs[call].join(', ')}, namely on ${foreign.join(' or ')}`,
        )
      }
      compare(
        'environment-index',
        run(3, 1),
        'differs in another environment: the row that is read or written is not that of environment i',
      )
    }
  }
}

/** Arrays with the situation in row i. The other rows have other numbers, and so have all outputs if `garbage` is given. */
function prepare(
  definition: EnvironmentDefinition,
  count: number,
  i: number,
  situation: Situation,
  call: Call,
  garbage?: Garbage,
): EnvArrays {
  const envs = allocateArrays(definition, count)
  const widths = arrayWidths(definition)
  for (const name of arrayNames) {
    if (name === 'context') continue
    envs[name].fill(7.25)
    envs[name].fill(0, i * widths[name], (i + 1) * widths[name])
    if (garbage?.arrays.includes(name) === true)
      envs[name].fill(garbage.value, i * widths[name], (i + 1) * widths[name])
  }
  for (const column of Object.values(envs.context)) column.fill(7.25)
  writeContext(envs.context, i, situation.context)
  envs.actions.set(situation.action, i * widths.actions)
  if (call !== 'reset') envs.state.set(situation.state, i * widths.state)
  return envs
}

function act(
  definition: EnvironmentDefinition,
  call: Call,
  envs: EnvArrays,
  i: number,
  random: EnvironmentStream,
): void {
  if (call === 'observe') definition.observe(envs, i)
  else if (call === 'mask') definition.mask?.(envs, i)
  else definition[call](envs, i, random)
}

function lookAtNeighbours(
  definition: EnvironmentDefinition,
  call: Call,
  envs: EnvArrays,
  i: number,
  before: readonly EnvRow[],
  step: number,
  findings: Findings,
): void {
  for (let k = 0; k < envs.count; k++) {
    const after = readEnv(definition, envs, k)
    const fixed = k === i ? arrayNames.filter((name) => !writes[call].includes(name)) : arrayNames
    const field = firstDifference(before[k], after, fixed)
    if (field === undefined) continue
    if (k === i)
      findings.add('writes', field, `is written by ${call}, which may only read it`, { envIndex: i, step })
    else
      findings.add('neighbours', field, `of environment ${k} is written by ${call} of environment ${i}`, {
        envIndex: i,
        step,
      })
  }
}

/** Checks that drawings and texts of any state exist, are finite, and change nothing. */
export function checkDrawing(
  definition: EnvironmentDefinition,
  findings: Findings,
  situations: readonly Situation[],
): void {
  for (const situation of situations) {
    const envs = prepare(definition, 1, 0, situation, 'observe')
    const before = readEnv(definition, envs, 0)
    try {
      const drawing = definition.draw?.(envs, 0)
      if (drawing !== undefined && !numbersIn(drawing).every(Number.isFinite))
        findings.add('drawing', 'draw', 'gives a number that is not finite', { step: situation.step })
      const text = definition.text?.(envs, 0)
      if (text !== undefined && typeof text !== 'string')
        findings.add('drawing', 'text', 'gives no string', { step: situation.step })
    } catch (error) {
      findings.add('drawing', 'draw', `throws: ${String(error)}`, { step: situation.step })
    }
    const field = firstDifference(before, readEnv(definition, envs, 0))
    if (field !== undefined)
      findings.add('drawing', field, 'is written by draw or text', { step: situation.step })
  }
}

function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value]
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(numbersIn)
}

/** The arrays that make a transition or a reset different. An observation alone does not count. */
const acting: readonly ArrayName[] = ['state', 'rewards', 'terminated', 'actionMask']
/** Actions that are tried in each situation. The last two are tried even if the mask forbids them. */
const tries = 5

/**
 * Checks that every context feature changes a reset or a transition. From the same state, with the same action
 * and random numbers, another value of the feature must give another state, reward, end or mask. `observed`
 * lists features that only change observations.
 */
export function checkContext(
  definition: EnvironmentDefinition,
  findings: Findings,
  seed: number,
  situations: readonly Situation[],
  observed: readonly string[],
): void {
  Object.entries(definition.context).forEach(([name, { low, high, default: usual, extrapolate = [] }]) => {
    const values = [...new Set([low, high, ...extrapolate, usual])]
    if (values.length === 1) {
      findings.add('context', name, `has the one value ${usual}`)
      return
    }
    const seen = { observation: false }
    if (actsOnReset(definition, name, values, seed, seen)) return
    if (actsOnSteps(definition, name, values, seed, situations, seen)) return
    if (seen.observation && observed.includes(name)) return
    findings.add(
      'context',
      name,
      seen.observation
        ? 'changes what is observed, but no transition and no reset'
        : `changes nothing: no transition from ${situations.length} states and no reset is another for ${values.join(', ')}`,
    )
  })
}

function actsOnReset(
  definition: EnvironmentDefinition,
  name: string,
  values: readonly number[],
  seed: number,
  seen: { observation: boolean },
): boolean {
  const envs = allocateArrays(definition, 1)
  const usual = Object.values(definition.context).map((feature) => feature.default)
  for (let k = 0; k < 20; k++) {
    const { again } = repeatable('check', 'reset', seed, k)
    const outcome = (value: number) => {
      writeContext(envs.context, 0, usual)
      envs.context[name][0] = value
      definition.reset(envs, 0, again())
      look(definition, envs, 0)
      return readEnv(definition, envs, 0)
    }
    const first = outcome(values[0])
    for (const value of values.slice(1)) {
      const other = outcome(value)
      if (firstDifference(first, other, ['state', 'actionMask']) !== undefined) return true
      seen.observation ||= firstDifference(first, other, ['observations']) !== undefined
    }
  }
  return false
}

function actsOnSteps(
  definition: EnvironmentDefinition,
  name: string,
  values: readonly number[],
  seed: number,
  situations: readonly Situation[],
  seen: { observation: boolean },
): boolean {
  const envs = allocateArrays(definition, 1)
  const choice = fastStream('check', 'context', seed)
  const place = Object.keys(definition.context).indexOf(name)
  for (const [at, { state, context, action }] of situations.entries()) {
    for (let k = 0; k < tries; k++) {
      writeContext(envs.context, 0, context)
      envs.state.set(state)
      envs.actions.set(action)
      if (k > 0) {
        envs.actionMask.fill(1)
        if (k < tries - 2) definition.mask?.(envs, 0)
        writeRandomAction(definition, envs, 0, choice)
      }
      const taken = envs.actions.slice()
      const { again } = repeatable('check', 'step', seed, at, k)
      const outcome = (value: number) => {
        writeContext(envs.context, 0, context)
        envs.context[name][0] = value
        envs.state.set(state)
        envs.actions.set(taken)
        definition.step(envs, 0, again())
        look(definition, envs, 0)
        return readEnv(definition, envs, 0)
      }
      try {
        const first = outcome(context[place])
        for (const value of values) {
          if (value === context[place]) continue
          const other = outcome(value)
          if (firstDifference(first, other, acting) !== undefined) return true
          seen.observation ||= firstDifference(first, other, ['observations']) !== undefined
        }
      } catch {
        // A state of one context may make no sense in another, as where a wall stands now.
      }
    }
  }
  return false
}
