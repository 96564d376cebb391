import { writeContext } from '../context.ts'
import type { EnvironmentDefinition } from '../definition.ts'
import { type FiniteDefinition, type FiniteModel, type Outcome, outcomesOf } from '../finite-model.ts'
import { allocateArrays, repeatable, type Situation } from './situations.ts'
import type { Findings } from './finding.ts'

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
    // Some contexts have no model over the observations.
    return undefined
  }
}

/** Whether a step is an outcome of the model, up to the field. With reward noise, an outcome has the mean reward. */
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
