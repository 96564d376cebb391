import { sampleMaskOf } from '../action-masks.ts'
import { explainMismatch } from '../space.ts'
import type { ArraySpace } from '../space.ts'
import { createVectorEnvironment } from '../vector.ts'
import type { VectorEnvironment } from '../vector.ts'
import { fastStream } from '../environment-random.ts'
import type { EnvironmentStream } from '../environment-random.ts'
import type { EnvironmentDefinition } from '../definition.ts'
import { contextRow, writeContext } from '../context.ts'
import type { Context } from '../context.ts'
import type { Findings } from './finding.ts'
import { randomContext, writeRandomAction, allocateArrays, repeatable } from './situations.ts'
import type { Situation } from './situations.ts'
import { outcomesOf } from '../finite-model.ts'
import type { FiniteDefinition, FiniteModel, TransitionOutcome } from '../finite-model.ts'

const count = 4

/** Random play in four environments: one with the default context, two of training, one of the whole range. */
function playground(definition: EnvironmentDefinition, seed: number): VectorEnvironment {
  const random = fastStream('check', 'contexts', seed)
  const names = Object.keys(definition.context)
  const contexts = Array.from({ length: count }, (_, i): Context => {
    const row = i === 0 ? contextRow(definition.context) : randomContext(definition.context, random, i === 3)
    return Object.fromEntries(names.map((name, k) => [name, row[k]]))
  })
  return createVectorEnvironment(definition, {
    numEnvs: count,
    seed,
    contextFor: (envIndex) => contexts[envIndex],
  })
}

/** Checks that observations and masks lie in their spaces, rewards are finite, and the same seed repeats the play. */
export function checkPlay(
  definition: EnvironmentDefinition,
  findings: Findings,
  seed: number,
  steps: number,
): void {
  const env = playground(definition, seed)
  const twin = playground(definition, seed)
  const random = fastStream('check', 'actions', seed)
  let alike = true
  for (const round of ['first', 'second'] as const) {
    env.reset({ seed })
    twin.reset({ seed })
    // The twin has played before, which reveals leftovers of earlier play.
    if (round === 'first') playOn(twin, 17, fastStream('check', 'elsewhere', seed))
    if (round === 'first') twin.reset({ seed })
    for (let t = 0; t <= steps; t++) {
      for (let i = 0; i < count; i++) {
        lookAtRow(definition, env.observations, i, env.lengths[i], findings)
        lookAtMask(env, i, findings)
        if ((env.terminated[i] | env.truncated[i]) === 1)
          lookAtRow(definition, env.finalObservations, i, env.lengths[i], findings)
        if (!Number.isFinite(env.rewards[i]))
          findings.add('not-finite', 'reward', `is ${env.rewards[i]}, expected a finite number`, {
            envIndex: i,
            step: env.lengths[i],
          })
      }
      const field = alike ? difference(env, twin) : undefined
      if (field !== undefined) {
        alike = false
        findings.add('determinism', field.name, 'differs from the same play from the same seed', {
          envIndex: field.envIndex,
          step: t,
        })
      }
      for (let i = 0; i < count; i++) writeRandomAction(definition, env.envs, i, random)
      twin.actions.set(env.actions)
      env.step()
      twin.step()
    }
  }
}

function playOn(env: VectorEnvironment, steps: number, random: EnvironmentStream): void {
  for (let t = 0; t < steps; t++) {
    for (let i = 0; i < count; i++) writeRandomAction(env.definition, env.envs, i, random)
    env.step()
  }
}

const compared = ['observations', 'rewards', 'terminated', 'actionMask'] as const

function difference(
  one: VectorEnvironment,
  other: VectorEnvironment,
): { name: string; envIndex: number } | undefined {
  const pairs = [
    ['state', one.envs.state, other.envs.state] as const,
    ...compared.map((name) => [name, one[name], other[name]] as const),
  ]
  for (const [name, a, b] of pairs) {
    for (let k = 0; k < a.length; k++) {
      if (Object.is(a[k], b[k])) continue
      const width = a.length / count
      return { name: `${name}[${k % width}]`, envIndex: Math.floor(k / width) }
    }
  }
  return undefined
}

function lookAtRow(
  definition: EnvironmentDefinition,
  rows: Float32Array,
  i: number,
  step: number,
  findings: Findings,
): void {
  const space = asFloat32(definition.observation)
  const width = rows.length / count
  // The raw row. Reading it as a member would refuse numbers that are not integers.
  const row = rows.subarray(i * width, (i + 1) * width)
  const why = explainMismatch(space, space.type === 'discrete' ? row[0] : row, 'it')
  if (why !== undefined)
    findings.add('space', 'observation', `leaves its space: ${why}`, { envIndex: i, step })
}

/** Rows are float32, for every dtype of a box. */
const asFloat32 = (space: ArraySpace): ArraySpace =>
  space.type === 'box' && space.dtype === 'float64' ? { ...space, dtype: 'float32' } : space

function lookAtMask(
  { definition, actionMask, lengths }: VectorEnvironment,
  i: number,
  findings: Findings,
): void {
  const choices = actionMask.length / count
  if (choices === 0) return
  const row = actionMask.subarray(i * choices, (i + 1) * choices)
  const where = { envIndex: i, step: lengths[i] }
  if (row.some((entry) => entry > 1))
    findings.add('mask', 'actionMask', `is ${row.join(' ')}, expected zeros and ones`, where)
  if (sampleMaskOf(definition.action, row) === undefined)
    findings.add('mask', 'actionMask', `of ${definition.name} allows no action`, where)
}

/** Checks that random play ends without a time limit. */
export function checkEnds(
  definition: EnvironmentDefinition,
  findings: Findings,
  seed: number,
  patience: number,
): void {
  if (definition.maxSteps !== undefined) return
  const env = createVectorEnvironment(definition, { numEnvs: 1, seed, autoreset: 'disabled' })
  const random = fastStream('check', 'patience', seed)
  env.reset()
  for (let t = 0; t < patience; t++) {
    writeRandomAction(definition, env.envs, 0, random)
    env.step()
    if (env.terminated[0] === 1) return
  }
  findings.add(
    'endless',
    'terminated',
    `never came in ${patience} steps of random play, and there is no maxSteps`,
  )
}

/** Sampled steps from a situation, enough to see most of the probability. */
const draws = 16
const tolerance = 1e-9

/**
 * Checks that the steps of an environment agree with its exact model (`transitions`), in the context of each
 * situation. This finds features that one of the two confuses. Rewards are compared if they have no noise.
 */
export function checkModel(
  definition: EnvironmentDefinition,
  findings: Findings,
  seed: number,
  situations: readonly Situation[],
): void {
  const { transitions } = definition as Partial<FiniteDefinition>
  if (transitions === undefined || definition.observation.type !== 'discrete') return
  const envs = allocateArrays(definition, 1)
  const models = new Map<string, FiniteModel | undefined>()
  for (const [at, { state, context, action, step }] of situations.entries()) {
    const key = context.join()
    if (!models.has(key)) models.set(key, modelOf(definition, transitions, context))
    const model = models.get(key)
    if (model === undefined) continue
    writeContext(envs.context, 0, context)
    envs.state.set(state)
    definition.observe(envs, 0)
    const from = envs.observations[0]
    const outcomes = outcomesOf(model, from, action[0]).filter(({ probability }) => probability > 0)
    const seen: TransitionOutcome[] = []
    for (let k = 0; k < draws; k++) {
      envs.state.set(state)
      envs.actions.set(action)
      definition.step(envs, 0, repeatable('check', 'model', seed, at, k).random)
      definition.observe(envs, 0)
      const { observations, rewards, terminated } = envs
      seen.push({
        probability: 1,
        state: observations[0],
        reward: rewards[0],
        terminated: terminated[0] === 1,
      })
    }
    for (const field of ['state', 'terminated', 'reward'] as const) {
      const wrong = seen.find((one) => !outcomes.some((expected) => matches(one, expected, field, seen)))
      if (wrong === undefined) continue
      findings.add(
        'model',
        field,
        `is ${wrong[field]} after action ${action[0]} from ${from}, which \`transitions\` does not know in the context ${describe(definition, context)}`,
        { step },
      )
      break
    }
  }
}

function modelOf(
  definition: EnvironmentDefinition,
  transitions: FiniteDefinition['transitions'],
  row: Float64Array,
): FiniteModel | undefined {
  try {
    return transitions(Object.fromEntries(Object.keys(definition.context).map((name, k) => [name, row[k]])))
  } catch {
    // Some contexts have no model over the observations.
    return undefined
  }
}

/** Whether a step is an outcome of the model, up to the field. With reward noise, an outcome has the mean reward. */
function matches(
  one: TransitionOutcome,
  expected: TransitionOutcome,
  field: 'state' | 'terminated' | 'reward',
  seen: readonly TransitionOutcome[],
): boolean {
  if (one.state !== expected.state) return false
  if (field === 'state') return true
  if (one.terminated !== expected.terminated) return false
  if (field === 'terminated') return true
  if (Math.abs(one.reward - expected.reward) <= tolerance) return true
  return seen.some((other) => other.state === one.state && Math.abs(other.reward - one.reward) > tolerance)
}

const describe = (definition: EnvironmentDefinition, row: Float64Array): string =>
  Object.keys(definition.context)
    .map((name, k) => `${name}=${row[k]}`)
    .join(', ')
