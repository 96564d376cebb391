import { writeContext } from '../context.ts'
import type { EnvironmentDefinition } from '../definition.ts'
import { type FiniteDefinition, type FiniteModel, type Outcome, outcomesOf } from '../finite-model.ts'
import { allocateArrays, repeatable, type Situation } from './situations.ts'
import type { Findings } from './finding.ts'

/** Steps that are drawn from a situation: what most of the probability falls on is seen. */
const draws = 16
const tolerance = 1e-9

/**
 * Where an environment has an exact model (`transitions`) over the numbers that it shows, its steps do what the model says, in the context of
 * each situation: a feature that one of the two confuses with another gives other outcomes. Rewards are compared where they have no noise.
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
    const seen: Outcome[] = []
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
    // Some contexts have no model over what is seen.
    return undefined
  }
}

/** Whether a step is an outcome, up to the field. Where rewards have noise, an outcome says their mean alone. */
function matches(
  one: Outcome,
  expected: Outcome,
  field: 'state' | 'terminated' | 'reward',
  seen: readonly Outcome[],
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
