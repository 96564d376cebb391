import { argmax, choices, gamma, nextStates, reward, states } from './bandit.ts'
import type { Bandit, Choose } from './bandit.ts'

/** The step after next only, by the model. */
export const myopic =
  (bandit: Bandit): Choose =>
  (state) =>
    argmax(
      bandit.reach.map((reach) =>
        reach.reduce(
          (sum, reached, arm) => sum + bandit.worth[arm] * bandit.next[arm][bandit.good(state, arm)][reached],
          0,
        ),
      ),
    )

/** Whittle's index of each arm by itself, by the model: the charge at which reaching it once is worth nothing. */
function indices({ next, worth }: Bandit): Choose[] {
  return next.map((p, arm) => {
    const index = [0, 1].map((state) => {
      let [low, high] = [0, 20]
      for (let halving = 0; halving < 20; halving++) {
        const charge = (low + high) / 2
        let values = [0, 0]
        const worthOf = (good: number, reached: number): number =>
          worth[arm] * good -
          charge * reached +
          gamma * (p[good][reached] * values[1] + (1 - p[good][reached]) * values[0])
        for (let sweep = 0; sweep < 60; sweep++)
          values = [0, 1].map((good) => Math.max(worthOf(good, 0), worthOf(good, 1)))
        if (worthOf(state, 1) > worthOf(state, 0)) low = charge
        else high = charge
      }
      return low
    })
    return (state) => index[(state >> arm) & 1]
  })
}

/** The choice whose reached arms have the highest sum of indices. */
export function byIndex(bandit: Bandit): Choose {
  const each = indices(bandit)
  return (state) =>
    argmax(
      bandit.reach.map((reach) =>
        reach.reduce((sum, reached, arm) => sum + (reached > 0 ? each[arm](state) : 0), 0),
      ),
    )
}

/** Value iteration on the model: what no policy exceeds. */
export function optimal(bandit: Bandit): Choose {
  const rows = Array.from({ length: states * choices.length }, (_, at) =>
    nextStates(bandit, Math.floor(at / choices.length), at % choices.length),
  )
  let values = new Float64Array(states)
  const worthOf = (at: number): number => rows[at].reduce((sum, p, n) => sum + p * values[n], 0)
  const of = (state: number): number[] => choices.map((_, choice) => worthOf(state * choices.length + choice))
  for (let sweep = 0; sweep < 30; sweep++)
    values = values.map((_, state) => reward(bandit, state) + gamma * Math.max(...of(state)))
  return (state) => argmax(of(state))
}
