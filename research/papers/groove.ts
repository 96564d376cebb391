import { createRandom } from 'agoge/engine'
import type { Random } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import { each } from '../testbeds/each.ts'
import { levelOf, percent, randomFeatures, randomLevels } from '../testbeds/levels/levels.ts'
import type { Level } from '../testbeds/levels/levels.ts'
import { actorCritic, firstRule, learnedReturn, ruleSize } from '../testbeds/update-rules/update-rules.ts'
import type { Rule } from '../testbeds/update-rules/update-rules.ts'

/** The best of rates of the policy of 1, 2 and 4, decays of 0 to 0.6 and rates of values of 0.1 to 0.8 on 400 other levels. */
const handMade = actorCritic(0.95, 0.2, 2, 0.3)
const [batch, pairs, capacity, repeats] = [8, 6, 48, 3]

/** A level, what the learned rule was compared with each time it was used, and by how much that fell short of the mean of these. */
interface Entry {
  level: Level
  references: number[]
  regret: number
}
/** What the regret of a level is the distance to, and how many agents that takes. */
interface Regret {
  reference: (level: Level, episodes: number, random: Random) => number
  runs: number
}
/** To what the hand-made algorithm learns. */
const algorithmic: Regret = {
  reference: (level, episodes, random) =>
    average(each(repeats).map(() => learnedReturn(level, handMade, episodes, random))),
  runs: repeats,
}
/** To the best policy. */
const optimal: Regret = { reference: ({ best }) => best, runs: 0 }

const drawn = (random: Random): Level => levelOf(randomFeatures(random), random)
/** An old level, with a chance that falls with its rank by regret (Jiang et al. 2021). */
const replayed = (buffer: readonly Entry[], random: Random): Entry => {
  const ranked = buffer.toSorted((a, b) => b.regret - a.regret)
  return ranked[random.weighted(ranked.map((_, rank) => 1 / (rank + 1)))]
}

/** Of spreads 0.1 and 0.2 and steps 0.05, 0.1 and 0.2 on seeds 201 to 208, one for all arms: the middle of what is best for each. */
const [spread, step, replay] = [0.1, 0.1, 0.5]

/** Evolution strategies (Salimans et al. 2017) in mirrored pairs, on levels of which some may come from a buffer. */
function metaTrained({ seed, budget }: ArmRun, regret: Regret | null): [Rule, Record<string, number>] {
  const random = createRandom('meta-training', seed)
  let [rule, used, late] = [firstRule(), 0, 0]
  // The mean of the rules of the second half of the budget, which has less noise than the last.
  const sum = new Float64Array(ruleSize)
  const buffer: Entry[] = []
  const [old, fresh]: [number[], number[]] = [[], []]
  for (let generation = 0; used < budget.runs; generation++) {
    const ready = regret !== null && buffer.length >= batch
    const levels = each(batch).map((): Entry => {
      const again = ready && random.next() < replay
      const entry = again ? replayed(buffer, random) : { level: drawn(random), references: [], regret: 0 }
      entry.references.push(regret?.reference(entry.level, budget.episodes, random) ?? 0)
      used += regret?.runs ?? 0
      return entry
    })
    const sums = each(batch).map(() => 0)
    const tried = each(pairs).map((pair) => {
      const noise = each(ruleSize).map(() => random.normal())
      const totals = [1, -1].map((sign) => {
        const point: Rule = rule.map((weight, k) => weight + sign * spread * noise[k])
        const returns = levels.map(({ level }, k) =>
          // Both of a pair have the same random numbers.
          learnedReturn(level, point, budget.episodes, createRandom(seed, generation, pair, k)),
        )
        for (const [k, value] of returns.entries()) sums[k] += value / (2 * pairs)
        return average(returns)
      })
      return { noise, gain: totals[0] - totals[1] }
    })
    used += 2 * pairs * batch
    const scale = Math.sqrt(average(tried.map(({ gain }) => gain ** 2))) + 1e-9
    rule = rule.map(
      (weight, k) => weight + step * average(tried.map(({ noise, gain }) => (gain / scale) * noise[k])),
    )
    if (2 * used >= budget.runs) {
      late++
      for (const [k, weight] of rule.entries()) sum[k] += weight
    }
    for (const [k, entry] of levels.entries()) {
      // Measured with the last reference alone, by which the level was not chosen.
      if (ready) (buffer.includes(entry) ? old : fresh).push((entry.references.at(-1) ?? 0) - sums[k])
      entry.regret = average(entry.references) - sums[k]
      if (!buffer.includes(entry)) buffer.push(entry)
    }
    buffer.sort((a, b) => b.regret - a.regret).splice(capacity)
  }
  const mean = sum.map((total) => total / late)
  if (regret === null) return [mean, { replayed: 0 }]
  const measures = { replayed: old.length / (old.length + fresh.length), gap: average(old) - average(fresh) }
  return [mean, measures]
}

/** Levels that are larger than those of training, with more traps and always a lure. */
const harder = (seed: number, count: number): Level[] =>
  each(count).map((k) => {
    const random = createRandom('harder', seed, k)
    const features = randomFeatures(random)
    const more = { side: 5 + random.int(2), traps: 2 + random.int(3), lure: 0.2 + 0.3 * random.next() }
    return levelOf({ ...features, ...more }, random)
  })

/** The score is what a rule teaches on harder levels, `alike` what it teaches on unseen levels of the kind of training. */
function judged({ seed, budget }: ArmRun, rule: Rule, measures: Record<string, number> = {}): ArmResult {
  const taught = (levels: Level[], agents: number): number => {
    const random = createRandom('unseen', seed)
    const returns = levels.map((level) =>
      average(each(agents).map(() => learnedReturn(level, rule, budget.episodes, random))),
    )
    return percent(levels, returns)
  }
  const alike = taught(randomLevels(budget.unseen / 2, 'alike', seed), 1)
  return { score: taught(harder(seed, budget.unseen), 3), measures: { ...measures, alike } }
}
const trained = (run: ArmRun, regret: Regret | null): ArmResult => judged(run, ...metaTrained(run, regret))

export default definePaper({
  id: 'groove',
  title: 'Discovering General Reinforcement Learning Algorithms with Adversarial Environment Design',
  theme: 'curriculum-autorl',
  claim:
    'An update rule that is meta-trained on levels of high algorithmic regret, the distance to what a hand-made algorithm learns, teaches agents more on harder unseen levels than one meta-trained on random levels.',
  arms: {
    groove: (run) => trained(run, algorithmic),
    'random-levels': (run) => trained(run, null),
    'optimal-regret': (run) => trained(run, optimal),
    'hand-made': (run) => judged(run, handMade),
    untrained: (run) => judged(run, firstRule()),
  },
  metric:
    'return on harder unseen levels, exact, in percent of what the best policy gains over the uniform one',
  pairing: 'seed',
  effect: { better: 'groove', than: ['random-levels'], atLeast: 2.5 },
  checks: [
    {
      about: 'levels come from the buffer',
      arm: ['groove', 'optimal-regret'],
      of: 'replayed',
      atLeast: 0.3,
      atMost: 0.7,
    },
    { about: 'no levels come from a buffer', arm: 'random-levels', of: 'replayed', atMost: 0 },
    { about: 'those of the buffer have more regret than new ones', arm: 'groove', of: 'gap', atLeast: 0.05 },
    { about: 'the hand-made algorithm learns', arm: 'hand-made', of: 'score', atLeast: 50 },
  ],
  control: { positive: { better: 'random-levels', than: 'untrained', atLeast: 15 } },
  budget: { runs: 5000, episodes: 30, unseen: 400 },
  quick: { runs: 200, episodes: 3, unseen: 4 },
  simplifications: [
    'a rule of 15 weights for tables of logits and values stands for the recurrent network of LPG; evolution strategies stand for gradients through learning',
    'random levels of three to five cells a side stand for the parameters of environments; harder levels of five and six with more traps and always a lure stand for Atari and Procgen',
    'a buffer ranked by regret, from which half of the levels come, stands for the generator of levels; agents of the hand-made algorithm count in the budget',
    'the hand-made algorithm is a rule of the same kind, so what is learned could equal it',
    'the size of steps was chosen with means of arms in view; differences there were within their errors',
  ],
})
