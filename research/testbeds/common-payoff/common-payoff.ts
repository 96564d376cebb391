import { climbing, createMultiAgentVector, penaltyGame } from 'agoge/classic'
import { createRandom } from 'agoge/engine'
import { each } from '../each.ts'

export { softmax } from '../vectors.ts'

/** The first of the places of the largest value. */
export const argmax = (values: readonly number[]): number => values.indexOf(Math.max(...values))

/** The payoff of every pair of actions, as a share of the best one. */
export type Game = number[][]
const relative = (game: Game): Game =>
  game.map((row) => row.map((payoff) => payoff / Math.max(...game.flat())))

function tableOf(definition: typeof climbing | typeof penaltyGame): Game {
  const environment = createMultiAgentVector(definition, { numEnvs: 9, seed: 0 })
  environment.reset()
  for (const k of each(9)) environment.actions.set([Math.floor(k / 3), k % 3], 2 * k)
  environment.step()
  return each(3).map((a) => each(3).map((b) => environment.rewards[2 * (3 * a + b)]))
}
const known = [tableOf(climbing), tableOf(penaltyGame)].map(relative)

/** The two known games, and games of five actions in which most pairs of actions are bad for both. */
export function gamesOf(seed: number): Game[] {
  const random = createRandom('games', seed)
  const draw = () => each(5).map(() => each(5).map(() => -3 * random.next() ** 0.7))
  const drawn = each(4).map(draw)
  return [
    ...known,
    ...drawn.map((game) => game.map((row) => row.map((x) => 1 + x - Math.max(...game.flat())))),
  ]
}

/** The mean of values under a policy. */
export const expectation = (policy: readonly number[], values: readonly number[]): number =>
  policy.reduce((sum, p, a) => sum + p * values[a], 0)

/** Raises the logits along the exact gradient of the expected `values`, with an entropy bonus. */
export function improve(
  logits: number[],
  policy: readonly number[],
  values: readonly number[],
  entropy: number,
  rate: number,
): void {
  const soft = policy.map((p, a) => values[a] - entropy * Math.log(Math.max(p, 1e-12)))
  const level = expectation(policy, soft)
  for (const a of each(logits.length)) logits[a] += rate * policy[a] * (soft[a] - level)
}
