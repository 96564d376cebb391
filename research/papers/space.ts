import { createRandom } from 'agoge/engine'
import type { Random } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import { chainTask, exactValues, passRates, reinforce } from '../testbeds/prefix-tree/index.ts'
import type { LearningRule, PrefixPolicy, Tuning } from '../testbeds/prefix-tree/index.ts'

const batch = 8

const rule: LearningRule = {
  advantage: { name: 'rloo' },
  loss: { name: 'importance-sampling' },
  aggregation: { mode: 'constant', length: 1 },
}

/** Chooses the contexts of each step. */
interface Schedule {
  draw: (random: Random) => readonly number[]
  /** Contexts in use. */
  size: () => number
}

/**
 * Self-paced: the contexts of the largest change of value since the step before, of which there are more once the mean
 * value changes by less than a tenth.
 */
function selfPaced(policy: PrefixPolicy, contexts: readonly number[], by: 'change' | 'easiest'): Schedule {
  let before = passRates(policy, contexts)
  let size = batch
  return {
    draw(random) {
      const now = passRates(policy, contexts)
      const changes = now.map((value, c) => value - before[c])
      const [mean, meanBefore] = [average(now), average(before)]
      if (Math.abs(mean - meanBefore) <= 0.1 * meanBefore) size = Math.min(contexts.length, size + 1)
      const rank = by === 'change' ? changes : now
      before = now
      const chosen = random
        .shuffle(contexts.map((_, c) => c))
        .toSorted((a, b) => rank[b] - rank[a])
        .slice(0, size)
      return random
        .shuffle(chosen)
        .slice(0, batch)
        .map((c) => contexts[c])
    },
    size: () => size,
  }
}

function roundRobin(contexts: readonly number[]): Schedule {
  let at = 0
  return {
    draw: () => Array.from({ length: batch }, () => contexts[at++ % contexts.length]),
    size: () => contexts.length,
  }
}

const schedules = {
  space: (policy: PrefixPolicy, contexts: readonly number[]) => selfPaced(policy, contexts, 'change'),
  'round-robin': (_: PrefixPolicy, contexts: readonly number[]) => roundRobin(contexts),
  random: (_: PrefixPolicy, contexts: readonly number[]): Schedule => ({
    draw: (random) => Array.from({ length: batch }, () => random.pick(contexts)),
    size: () => contexts.length,
  }),
  'easiest-first': (policy: PrefixPolicy, contexts: readonly number[]) =>
    selfPaced(policy, contexts, 'easiest'),
}
type ArmName = keyof typeof schedules

const budget = { steps: 8 }

function trained(name: ArmName, learningRate: number, { seed, budget }: Omit<ArmRun, 'signal'>): ArmResult {
  const { policy, train, test } = chainTask({
    seed,
    trainDepths: [1, 2, 3, 4],
    known: [2, 1, 0.2],
    count: 40,
    passAt1: 0.3,
  })
  const start = exactValues(policy, test).passAt1
  const contexts = createRandom(seed, 'contexts').shuffle(train)
  const { draw, size } = schedules[name](policy, contexts)
  const first = size()
  const drawn = new Map<number, number>()
  const counted = (random: Random): readonly number[] => {
    const questions = draw(random)
    for (const question of questions) drawn.set(question, (drawn.get(question) ?? 0) + 1)
    return questions
  }
  reinforce(policy, { rule, questions: train, steps: budget.steps, batch, learningRate, seed, draw: counted })
  const counts = train.map((question) => drawn.get(question) ?? 0).toSorted((a, b) => b - a)
  const most = counts.slice(0, train.length / 4).reduce((sum, count) => sum + count, 0)
  return {
    score: exactValues(policy, test).passAt1,
    start,
    measures: { mostDrawn: most / (budget.steps * batch), first, grown: size() - first },
  }
}

/** The best of the grid of `tuning` on seeds 121 to 124. */
const rates: Record<ArmName, number> = { space: 64, 'round-robin': 256, random: 256, 'easiest-first': 64 }
const names = Object.keys(schedules) as ArmName[]

export const tuning: Tuning = {
  grid: [8, 16, 32, 64, 128, 256, 512],
  arms: Object.fromEntries(
    names.map((name) => [
      name,
      ({ seed, learningRate }) => trained(name, learningRate, { seed, budget }).score,
    ]),
  ),
}

export default definePaper({
  id: 'space',
  title: 'Self-Paced Context Evaluation for Contextual Reinforcement Learning',
  theme: 'contextual',
  claim:
    'Training on few contexts, those whose value changes most, and on more once the change slows, generalises better to new contexts than training on all in turn or at random.',
  arms: {
    ...(Object.fromEntries(
      names.map((name) => [name, (run: ArmRun) => trained(name, rates[name], run)]),
    ) as Record<ArmName, (run: ArmRun) => ArmResult>),
    untrained: (run) => trained('random', 0, run),
  },
  metric: 'exact pass@1 on 40 held-out contexts of one to four steps, after as many answers',
  pairing: 'seed',
  effect: { better: 'space', than: ['round-robin', 'random'], atLeast: 0.02 },
  checks: [
    { about: 'it begins with few contexts', arm: 'space', of: 'first', atMost: 10 },
    { about: 'the set grows', arm: 'space', of: 'grown', atLeast: 5 },
    { about: 'a quarter of the contexts is drawn more often', arm: 'space', of: 'mostDrawn', atLeast: 0.5 },
    { about: 'all contexts are drawn as often', arm: 'round-robin', of: 'mostDrawn', atMost: 0.35 },
    {
      about: 'the policy starts at middling competence',
      arm: 'space',
      of: 'start',
      atLeast: 0.15,
      atMost: 0.5,
    },
  ],
  control: { positive: { better: 'random', than: 'untrained', atLeast: 0.05 } },
  budget,
  quick: { steps: 3 },
  simplifications: [
    'a contextual task of chains of operations, which share skills, stands for point mass, ball and ant',
    'the value of a context is exact, which helps the method: the paper reads it from the critic',
  ],
})
