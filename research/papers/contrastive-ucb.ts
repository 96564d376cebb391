import { createRandom, normalValues } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import { actions, best, copies, dot, horizon } from '../testbeds/low-rank/low-rank.ts'
import { each } from '../testbeds/each.ts'
import { induction, latentOf, latents, leastSquares } from '../testbeds/low-rank/low-rank.ts'
import { lowRank, pairs, scaled, states } from '../testbeds/low-rank/low-rank.ts'

/** Features phi(s, a) and psi(s') whose product tells real next states from random ones. A state shows its latent and its copy. */
function contrastive(seed: number) {
  const random = createRandom('contrastive', seed)
  const weights = each(actions + 1).map(() =>
    each(latents + copies).map(() => normalValues(random, latents, 0.1)),
  )
  const shown = (s: number) => [latentOf(s), latents + (s % copies)]
  const layer = (block: number, s: number): number[] => {
    const [a, b] = shown(s).map((i) => weights[block][i])
    return each(latents).map((k) => Math.exp(a[k] + b[k]))
  }
  const phi = () => pairs.map(({ s, a }) => scaled(layer(a, s)))
  /** A step of gradient descent on log(1 + 1 / f) for a real next state, on log(1 + f) for a random one. */
  function contrast(pair: number, next: number, real: boolean): void {
    const { s, a } = pairs[pair]
    const [left, psi] = [scaled(layer(a, s)), layer(actions, next)]
    const f = dot(left, psi)
    const step = 0.1 * (real ? 1 / (1 + f) : -f / (1 + f))
    for (let k = 0; k < latents; k++) {
      const share = (left[k] * psi[k]) / f
      for (const i of shown(s)) weights[a][i][k] += step * (share - left[k])
      for (const i of shown(next)) weights[actions][i][k] += step * share
    }
  }
  const train = (data: [number, number][], updates: number): void => {
    for (let update = 0; update < updates; update++) {
      const [pair, next] = random.pick(data)
      contrast(pair, next, true)
      contrast(pair, random.int(states), false)
    }
  }
  const model = () => phi().map((row) => scaled(each(states).map((s) => dot(row, layer(actions, s)))))
  return { train, phi, model }
}

/** Mean exact return of the policies that were played, and the share of pairs whose most likely latent the model knows. */
function play(run: ArmRun, kind: 'contrastive' | 'random' | 'pairs', bonus: number, epsilon = 0): ArmResult {
  const { to, transitions, rewards } = lowRank(run.seed)
  const [random, learned] = [createRandom('play', run.seed), contrastive(run.seed)]
  const features = () => {
    if (kind === 'contrastive') return learned.phi()
    if (kind === 'pairs') return pairs.map((_, p) => pairs.map((_, q) => Number(p === q)))
    const projection = createRandom('features', run.seed)
    return pairs.map(() => scaled(each(latents).map(() => projection.next())))
  }
  const data: [number, number][] = []
  const returns: number[] = []
  let squares = leastSquares(features())
  for (let round = 0; round < run.budget.rounds; round++) {
    const { uncertain, model } = squares.fit()
    const optimistic = rewards.map((reward, p) => reward + bonus * uncertain[p])
    const transition = kind === 'contrastive' ? learned.model() : model
    const { policy } = induction(transition, optimistic, (q, s) => q[s * actions + best(q, s)])
    const exact = (q: number[], s: number, h: number): number =>
      (1 - epsilon) * q[s * actions + policy[h][s]] +
      epsilon * average(q.slice(s * actions, (s + 1) * actions))
    returns.push(induction(transitions, rewards, exact).value)
    for (let t = 0, s = 0; t < 5 * horizon; t++) {
      if (t % horizon === 0) s = random.int(copies)
      const pair = s * actions + (random.next() < epsilon ? random.int(actions) : policy[t % horizon][s])
      s = random.weighted(transitions[pair])
      data.push([pair, s])
      squares.learn(pair, s)
    }
    if (kind !== 'contrastive') continue
    learned.train(data, run.budget.updates)
    squares = leastSquares(features())
    for (const [pair, next] of data) squares.learn(pair, next)
  }
  const known = kind === 'contrastive' ? learned.model() : squares.fit().model
  const likeliest = known.map((row) => latentOf(row.indexOf(Math.max(...row))))
  const recovered = average(likeliest.map((z, p) => Number(z === to[p])))
  return { score: average(returns), measures: { recovered } }
}

export default definePaper({
  id: 'contrastive-ucb',
  title:
    'Contrastive UCB: Provably Efficient Contrastive Self-Supervised Learning in Online Reinforcement Learning',
  theme: 'control',
  claim:
    'Features that tell next states from random ones, with a bonus from their covariance, earn more while learning in an environment of low rank than the same features without a bonus, random features with one, and counts of states and actions.',
  arms: {
    'contrastive-ucb': (run) => play(run, 'contrastive', 1),
    'no-bonus': (run) => play(run, 'contrastive', 0, 0.1),
    'random-features': (run) => play(run, 'random', 0.3),
    counts: (run) => play(run, 'pairs', 1),
  },
  metric: 'mean exact return of the policies played in 200 episodes of 6 steps',
  pairing: 'seed',
  effect: { better: 'contrastive-ucb', than: ['no-bonus', 'random-features', 'counts'], atLeast: 0.25 },
  checks: [
    {
      about: 'the features know where most pairs lead',
      arm: 'contrastive-ucb',
      of: 'recovered',
      atLeast: 0.85,
    },
    { about: 'random features do not', arm: 'random-features', of: 'recovered', atMost: 0.75 },
  ],
  control: { positive: { better: 'counts', than: 'random-features', atLeast: 0.5 }, same: 'counts' },
  budget: { rounds: 40, updates: 500 },
  quick: { rounds: 3, updates: 50 },
  simplifications: [
    'a finite environment of 20 states and rank 4 whose rewards are known; no Markov game, no pixels',
    'linear features of indicators of latent and copy are learned by steps on single pairs instead of to optimality',
    'bonus and exploration rate are chosen from four values for each arm',
  ],
})
