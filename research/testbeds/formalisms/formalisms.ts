import { createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { each } from '../each.ts'
import { dot } from '../vectors.ts'

export { dot } from '../vectors.ts'

const [states, actions, gamma] = [4, 2, 0.8]
/** Number of policies whose values are compared. */
export const pool = 40
const scaled = (row: number[]): number[] => row.map((v) => v / row.reduce((a, b) => a + b))
/** The chain of states under a policy, and the policy itself: [states][states], [states][actions]. */
interface Chain {
  to: number[][]
  policy: number[][]
}

/** Occupancies of states and actions of a chain, from how often each state is visited. */
const withActions = ({ policy }: Chain, visits: number[]): number[] =>
  visits.flatMap((visit, s) => policy[s % states].map((p) => visit * p))

/** Discounted visits of a chain that starts in the first state. */
function discounted(to: number[][]): number[] {
  let visits = to.map(() => 0)
  for (let sweep = 0; sweep < 80; sweep++)
    visits = visits.map(
      (_, s) => Number(s === 0) + gamma * visits.reduce((sum, v, from) => sum + v * to[from][s], 0),
    )
  return visits
}

function stationary(to: number[][]): number[] {
  let visits = to.map((_, s) => Number(s === 0))
  for (let step = 0; step < 200; step++)
    visits = visits.map((_, s) => visits.reduce((sum, v, from) => sum + v * to[from][s], 0))
  return visits
}

/** Probability for each state to be in b at a later step, before a. */
function until(to: number[][], a: number, b: number): number[] {
  let values = to.map(() => 0)
  for (let sweep = 0; sweep < 80; sweep++)
    values = to.map((row) => row.reduce((sum, p, s) => sum + p * (s === b ? 1 : s === a ? 0 : values[s]), 0))
  return values
}

/** A chain over the states of a machine as well, which remembers which of two states was visited last. */
const machine = ({ to }: Chain): number[][] =>
  each(2 * states).map((from) =>
    each(2 * states).map((next) => {
      const s = next % states
      const memory = s === 1 ? 1 : s === 2 ? 0 : Math.floor(from / states)
      return memory === Math.floor(next / states) ? to[from % states][s] : 0
    }),
  )
const pairs = each(states).flatMap((a) => each(states).map((b) => [a, b]))

/** What the objectives of each formalism are made of, exact for a policy. */
const formalisms = {
  markov: (chain: Chain) => withActions(chain, discounted(chain.to)),
  'limit-average': (chain: Chain) => withActions(chain, stationary(chain.to)),
  'reward-machine': (chain: Chain) => withActions(chain, discounted(machine(chain))),
  regularised(chain: Chain) {
    const visits = discounted(chain.to)
    const entropy = chain.policy.map((row) => -row.reduce((sum, p) => sum + p * Math.log(p), 0))
    return [...withActions(chain, visits), dot(visits, entropy)]
  },
  nonlinear(chain: Chain) {
    const row = withActions(chain, discounted(chain.to))
    return [...row, ...row.flatMap((v, i) => row.slice(i).map((w) => v * w))]
  },
  // Not a until b, from where on not c until d.
  'temporal-logic'({ to }: Chain) {
    const tables = pairs.map(([a, b]) => until(to, a, b))
    return pairs.flatMap(([a, b], first) =>
      pairs.flatMap(([c, d], second) =>
        a === b || b === 0 || c === d || c === b || d === b ? [] : [tables[first][0] * tables[second][b]],
      ),
    )
  },
}
/** Name of a formalism. */
export type Name = keyof typeof formalisms
/** All of them. */
export const names = Object.keys(formalisms) as Name[]
const centred = (column: number[]): number[] => {
  const middle = average(column)
  const deviation = Math.sqrt(average(column.map((v) => (v - middle) ** 2))) || 1
  return column.map((v) => (v - middle) / deviation)
}

/** Policies of a random environment: what each formalism sees of them, standardised [formalism][policy][feature], and their values in a task of each. */
export function environment(seed: number) {
  const random = createRandom('environment', seed)
  const draw = (length: number, spread: number): number[] =>
    scaled(each(length).map(() => Math.exp(spread * random.normal())))
  const model = each(states).map(() => each(actions).map(() => draw(states, 2)))
  const chains = each(pool).map((): Chain => {
    const policy = each(states).map(() => draw(actions, 2))
    return {
      policy,
      to: model.map((rows, s) =>
        each(states).map((n) =>
          dot(
            policy[s],
            rows.map((row) => row[n]),
          ),
        ),
      ),
    }
  })
  const seen = names.map((name) => {
    const rows = chains.map(formalisms[name])
    const columns = rows[0].map((_, k) => centred(rows.map((row) => row[k])))
    return rows.map((_, r) => columns.map((column) => column[r]))
  })
  const values = names.map((name, f) => {
    const weights = (name === 'nonlinear' ? seen[0] : seen[f])[0].map(() => random.normal())
    if (name === 'temporal-logic') {
      const formula = random.int(weights.length)
      return seen[f].map((row) => row[formula])
    }
    if (name !== 'nonlinear') return seen[f].map((row) => dot(row, weights))
    const [returns, target] = [centred(seen[0].map((row) => dot(row, weights))), 0.5 * random.normal()]
    return returns.map((value) => -((value - target) ** 2))
  })
  return { seen, values }
}
