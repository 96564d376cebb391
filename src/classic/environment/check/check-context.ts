import { writeContext } from '../context.ts'
import { fastStream } from '../environment-random.ts'
import type { EnvironmentDefinition } from '../definition.ts'
import type { Findings } from './finding.ts'
import { repeatable, writeRandomAction } from './situations.ts'
import type { Situation } from './situations.ts'
import { allocateArrays, firstDifference, look, readEnv } from './env-arrays.ts'
import type { ArrayName } from './env-arrays.ts'

/** What a transition or a reset consists of; an observation alone does not count. */
const acting: readonly ArrayName[] = ['state', 'rewards', 'terminated', 'actionMask']
/** Actions that are tried in each situation; the last two whether they are allowed or not. */
const tries = 5

/**
 * Every context feature changes a reset or a transition: from the same state, with the same action and random numbers,
 * another value of the feature gives another state, reward, end or mask. `observed` are features that are meant to change
 * observations only.
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
  const numEnvs = allocateArrays(definition, 1)
  const usual = Object.values(definition.context).map((feature) => feature.default)
  for (let k = 0; k < 20; k++) {
    const { again } = repeatable('check', 'reset', seed, k)
    const outcome = (value: number) => {
      writeContext(numEnvs.context, 0, usual)
      numEnvs.context[name][0] = value
      definition.reset(numEnvs, 0, again())
      look(definition, numEnvs, 0)
      return readEnv(definition, numEnvs, 0)
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
  const numEnvs = allocateArrays(definition, 1)
  const choice = fastStream('check', 'context', seed)
  const place = Object.keys(definition.context).indexOf(name)
  for (const [at, { state, context, action }] of situations.entries()) {
    for (let k = 0; k < tries; k++) {
      writeContext(numEnvs.context, 0, context)
      numEnvs.state.set(state)
      numEnvs.actions.set(action)
      if (k > 0) {
        numEnvs.actionMask.fill(1)
        if (k < tries - 2) definition.mask?.(numEnvs, 0)
        writeRandomAction(definition, numEnvs, 0, choice)
      }
      const taken = numEnvs.actions.slice()
      const { again } = repeatable('check', 'step', seed, at, k)
      const outcome = (value: number) => {
        writeContext(numEnvs.context, 0, context)
        numEnvs.context[name][0] = value
        numEnvs.state.set(state)
        numEnvs.actions.set(taken)
        definition.step(numEnvs, 0, again())
        look(definition, numEnvs, 0)
        return readEnv(definition, numEnvs, 0)
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
