import { AgogeError } from 'agoge'
import { average } from 'agoge/statistics'
import { passRates } from './exact.ts'
import type { PrefixPolicy } from './policy.ts'
import type { PrefixTree } from './tree.ts'

/**
 * The weights that raise the tokens of right answers: 1 for each feature on the way of a solution with the token that
 * the solution chooses there.
 *
 * @param chosen whether a feature counts, by its name. Default: all.
 */
export function solutionWeights(
  tree: PrefixTree,
  chosen: (feature: string) => boolean = () => true,
): Float64Array {
  const { vocabulary, featureStart, featureOf, children, roots, questions } = tree
  const names = [...tree.features.keys()]
  const weights = new Float64Array(names.length * vocabulary)
  for (const [q, { solutions }] of questions.entries())
    for (const solution of solutions) {
      let node = roots[q]
      for (const token of solution) {
        for (let i = featureStart[node]; i < featureStart[node + 1]; i++)
          if (chosen(names[featureOf[i]])) weights[featureOf[i] * vocabulary + token] = 1
        node = children[node * vocabulary + token]
      }
    }
  return weights
}

/**
 * Adds a multiple of `direction` to the weights, found by bisection, so that the mean pass@1 of the questions is
 * `passAt1`. So every seed and every arm starts equally competent.
 *
 * @param settings.tolerance of pass@1. Default: 0.005.
 * @throws AgogeError `bad-config` if no multiple from -30 to 30 reaches it.
 * @example
 * startAt(policy, solutionWeights(tree), { passAt1: 0.3, questions: [0, 1, 2] })
 */
export function startAt(
  policy: PrefixPolicy,
  direction: Float64Array,
  {
    passAt1,
    questions,
    tolerance = 0.005,
  }: { passAt1: number; questions: readonly number[]; tolerance?: number },
): void {
  const base = policy.weights.slice()
  let low = -30
  let high = 30
  let reached = NaN
  for (let round = 0; round < 60; round++) {
    const scale = (low + high) / 2
    for (let i = 0; i < base.length; i++) policy.weights[i] = base[i] + scale * direction[i]
    policy.changed()
    reached = average(passRates(policy, questions))
    if (Math.abs(reached - passAt1) <= tolerance) return
    if (reached < passAt1) low = scale
    else high = scale
  }
  throw new AgogeError('No starting weights give this pass@1', {
    code: 'bad-config',
    given: { passAt1, reached },
    expected: 'a pass@1 that the direction reaches',
    hint: 'Choose a direction that holds the tokens of right answers',
  })
}

/** Adds normal noise to all weights, so that seeds differ. */
export function addNoise(policy: PrefixPolicy, random: { normal(): number }, deviation: number): void {
  for (let i = 0; i < policy.weights.length; i++) policy.weights[i] += deviation * random.normal()
  policy.changed()
}

/**
 * Adds a number to the weight of a token at a feature, such as that of following a hint.
 *
 * @throws AgogeError `bad-config` if no prefix has the feature.
 */
export function raiseWeight(policy: PrefixPolicy, name: string, token: number, by: number): void {
  const feature = policy.tree.features.get(name)
  if (feature === undefined)
    throw new AgogeError(`No prefix has the feature "${name}"`, {
      code: 'bad-config',
      given: name,
      expected: 'a feature of a question of the tree',
    })
  policy.weights[feature * policy.tree.vocabulary + token] += by
  policy.changed()
}
