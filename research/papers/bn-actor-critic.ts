import { createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import { argmax, expectation, gamesOf, improve, softmax } from '../testbeds/common-payoff/common-payoff.ts'
import { each } from '../testbeds/each.ts'
import type { Game } from '../testbeds/common-payoff/common-payoff.ts'

/** How the two learn. Entropy and optimism fade to 0. */
interface Settings {
  rate: number
  entropy: number
  /** Strength of the edge through which the second agent sees the action of the first, at a share of the training. */
  edge?: (progress: number) => number
  /** How much more a high payoff counts than a low one: an exponential utility. At 0 an action is worth its mean payoff. */
  optimism?: number
}

/** Mutual information of the actions in nats. */
function dependence(policy: readonly number[], replies: readonly number[][]): number {
  const mean = policy.map((_, b) =>
    expectation(
      policy,
      replies.map((reply) => reply[b]),
    ),
  )
  return expectation(
    policy,
    replies.map((reply) =>
      expectation(
        reply,
        reply.map((p, b) => Math.log(Math.max(p, 1e-12) / Math.max(mean[b], 1e-12))),
      ),
    ),
  )
}

function learn(
  game: Game,
  seed: string,
  updates: number,
  { rate, entropy, edge = () => 0, optimism = 0 }: Settings,
) {
  const random = createRandom(seed)
  const actions = each(game.length)
  const table = () => actions.map(() => 0.5 * random.normal())
  const [first, second] = [table(), table()]
  const given = actions.map(() => actions.map(() => 0))
  let [most, strength] = [0, 0]
  for (const update of each(updates)) {
    const progress = update / updates
    strength = edge(progress)
    const [bonus, hope] = [entropy, optimism].map((value) => value * Math.max(0, 1 - progress / 0.75))
    const policy = softmax(first)
    const replies = given.map((row) => softmax(second.map((logit, b) => logit + strength * row[b])))
    if (update % 50 === 0) most = Math.max(most, dependence(policy, replies))
    const hoped = (chances: readonly number[], values: readonly number[]): number =>
      hope < 0.01
        ? expectation(chances, values)
        : Math.log(
            expectation(
              chances,
              values.map((value) => Math.exp(hope * value)),
            ),
          ) / hope
    const ofFirst = actions.map((a) => hoped(replies[a], game[a]))
    improve(first, policy, ofFirst, bonus, rate)
    for (const a of actions) {
      const values =
        strength > 0
          ? game[a]
          : actions.map((b) =>
              hoped(
                policy,
                actions.map((x) => game[x][b]),
              ),
            )
      improve(second, replies[a], values, bonus, rate * policy[a])
      if (strength > 0) improve(given[a], replies[a], values, bonus, rate * policy[a] * strength)
    }
  }
  const [a, b] = [argmax(first), argmax(second)]
  const seen = argmax(second.map((logit, k) => logit + strength * given[a][k]))
  return { alone: game[a][b], most, left: game[a][seen] - game[a][b], strength }
}

/** The payoff of the likeliest actions without the edge, mean over games. */
function coordination({ seed, budget }: ArmRun, settings: Settings): ArmResult {
  const learned = gamesOf(seed).map((game, k) => learn(game, `${seed}/${k}`, budget.updates, settings))
  return {
    score: average(learned.map(({ alone }) => alone)),
    measures: {
      dependence: average(learned.map(({ most }) => most)),
      lost: average(learned.map(({ left }) => left)),
      edge: average(learned.map(({ strength }) => strength)),
    },
  }
}

const fade = (progress: number): number => Math.max(0, 1 - progress / 0.75)
/** The best of nine on seeds 201 to 220: rates 1, 3, 10 with entropies 0.3, 1, 3; of `lenient` with optimism 3, 10, 30, where 10 and 30 are alike. */
const settings = {
  fading: { rate: 3, entropy: 1, edge: fade },
  kept: { rate: 3, entropy: 1, edge: () => 1 },
  independent: { rate: 3, entropy: 1 },
  lenient: { rate: 3, entropy: 1, optimism: 10 },
}

export default definePaper({
  id: 'bn-actor-critic',
  title:
    'Context-Aware Bayesian Network Actor-Critic Methods for Cooperative Multi-Agent Reinforcement Learning',
  theme: 'multi-agent',
  claim:
    'A joint policy in which one agent sees what the other does, through an edge that fades away during training, ends as independent policies that coordinate better than those trained independently, be they lenient with each other or not.',
  arms: {
    'fading-edge': (run) => coordination(run, settings.fading),
    independent: (run) => coordination(run, settings.independent),
    lenient: (run) => coordination(run, settings.lenient),
    'kept-edge': (run) => coordination(run, settings.kept),
    // Both choose at random.
    random: ({ seed }) => average(gamesOf(seed).map((game) => average(game.flat()))),
  },
  metric:
    'payoff of both agents acting alone, of which 1 is the best, mean over the climbing game, the penalty game and four games of five actions',
  pairing: 'seed',
  effect: { better: 'fading-edge', than: ['independent', 'lenient'], atLeast: 0.05 },
  checks: [
    { about: 'the actions depend on each other', arm: 'fading-edge', of: 'dependence', atLeast: 0.1 },
    { about: 'the edge is gone at the end', arm: 'fading-edge', of: 'edge', atMost: 0 },
    { about: 'the actions are independent', arm: ['independent', 'lenient'], of: 'dependence', atMost: 1e-6 },
  ],
  control: { positive: { better: 'independent', than: 'random', atLeast: 0.1 } },
  budget: { updates: 300 },
  quick: { updates: 20 },
  simplifications: [
    'two agents and one edge that fades on a schedule stand for a learned graph over many agents',
    'exact policy gradients of tables, without sampling and without a critic',
    'lenient agents, which weigh high payoffs more, are a rival that the paper does not have',
  ],
})
