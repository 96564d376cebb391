import { linUcb } from 'agoge/classic'
import { createRandom, type Random } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'

/** Queens of a puzzle, one in each row. */
const size = 10
/** What a solver may be advised: go on, or first take back one queen, three, or all. */
const advices = [0, 1, 3, size]
/** Queens that it places between two advices. */
const placed = 2

const list = Array.from({ length: size }, (_, i) => i)

/** Columns of a row that no queen attacks. */
const safe = (queens: readonly number[], row: number): number[] =>
  list.filter((column) =>
    queens.every((other, at) => other !== column && Math.abs(other - column) !== Math.abs(at - row)),
  )

/** How far the solver is: queens placed, whether the next row is shut, whether any later row is. */
function summaryOf(queens: readonly number[]): { depth: number; stuck: number; doomed: number } {
  const left = list.slice(queens.length).map((row) => safe(queens, row).length)
  return {
    depth: queens.length / size,
    stuck: Number(left[0] === 0),
    doomed: Number(left.includes(0)),
  }
}

/** Who gives advice, by the summary, and hears what came of it: after each one, and at the end. */
interface Adviser {
  advise(summary: ReturnType<typeof summaryOf>, waiting: number): number
  learn(progress: { gained: number; reached: number }): void
  end(isSolved: boolean): void
}

const rule = (advise: Adviser['advise']): Adviser => ({ advise, learn: () => {}, end: () => {} })

/** What the bandit is rewarded with: how much was gained, how far it is, or whether the puzzle was solved in the end. */
export type Reward = 'gained' | 'reached' | 'solved'

/** LinUCB over the advices, by the summary of the reasoning so far. */
export function bandit(reward: Reward, alpha: number): Adviser {
  const strategy = linUcb(advices.length, { dimensions: 5, alpha })
  let last: { features: Float32Array; chosen: number }[] = []
  return {
    advise({ depth, stuck, doomed }, waiting) {
      const features = Float32Array.of(1, depth, stuck, doomed, Math.min(1, waiting / 10))
      const chosen = strategy.choose(features)
      last.push({ features, chosen })
      return chosen
    },
    learn(progress) {
      if (reward === 'solved') return
      for (const { chosen, features } of last) strategy.learn(chosen, progress[reward], features)
      last = []
    },
    end(isSolved) {
      for (const { chosen, features } of last) strategy.learn(chosen, Number(isSolved), features)
      last = []
    },
  }
}

/** What is worth having reached: queens on the board, if all other rows still have a place. */
const worth = (queens: readonly number[]): number =>
  queens.length === size ? 1 : summaryOf(queens).depth - 0.5 * summaryOf(queens).doomed

/** Whether one puzzle is solved, whose first queen is given, within as many queens placed. */
function solves(random: Random, adviser: Adviser, most: number, given: Record<string, number>): boolean {
  let queens = [random.int(size)]
  let [deepest, waiting] = [1, 0]
  for (let used = 0; used < most && queens.length < size;) {
    const before = worth(queens)
    const advice = adviser.advise(summaryOf(queens), waiting)
    given[advice] = (given[advice] ?? 0) + 1
    queens = queens.slice(0, Math.max(1, queens.length - advices[advice]))
    // An advice costs a step even if nothing can be placed.
    for (let at = 0; at < placed && used < most && queens.length < size; at++, used++) {
      const free = safe(queens, queens.length)
      if (free.length > 0) queens = [...queens, random.pick(free)]
    }
    waiting = queens.length > deepest ? 0 : waiting + 1
    deepest = Math.max(deepest, queens.length)
    adviser.learn({ gained: worth(queens) - before, reached: worth(queens) })
  }
  adviser.end(queens.length === size)
  return queens.length === size
}

/** Share of the puzzles that are solved. The adviser has met others before, and learns on. */
export function solved({ seed, budget }: ArmRun, adviser: Adviser): ArmResult {
  const given: Record<string, number> = {}
  const results = Array.from({ length: budget.before + budget.puzzles }, (_, at) =>
    solves(createRandom(seed, 'puzzle', at), adviser, budget.placements, given),
  )
  const total = Object.values(given).reduce((a, b) => a + b)
  return {
    score: average(results.slice(budget.before).map(Number)),
    measures: { mostUsed: Math.max(...Object.values(given)) / total },
  }
}

export default definePaper({
  id: 'meta-reasoner',
  title: 'Meta-Reasoner: Dynamic Guidance for Optimized Inference-time Reasoning in Large Language Models',
  theme: 'reasoning',
  claim:
    'A contextual bandit that sees how the reasoning stands and advises to go on, to go back or to start again solves more with the same compute than no advice, advice at random, and fixed rules.',
  arms: {
    // Of the three rewards and 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3 for alpha, the best on seeds 201 to 240. The rules have no setting.
    bandit: (run) => solved(run, bandit('solved', 0.3)),
    'no-advice': (run) =>
      solved(
        run,
        rule(() => 0),
      ),
    random: (run) => {
      const random = createRandom(run.seed, 'advice')
      return solved(
        run,
        rule(() => random.int(advices.length)),
      )
    },
    'restart-when-stuck': (run) =>
      solved(
        run,
        rule(({ stuck }) => (stuck === 1 ? 3 : 0)),
      ),
    'back-three-when-stuck': (run) =>
      solved(
        run,
        rule(({ stuck }) => (stuck === 1 ? 2 : 0)),
      ),
    // It uses the second thing that the bandit sees.
    'back-one-when-doomed': (run) =>
      solved(
        run,
        rule(({ doomed }) => (doomed === 1 ? 1 : 0)),
      ),
  },
  metric: 'share of 10-queens puzzles solved within 40 placements, after 100 puzzles to learn from',
  pairing: 'seed',
  effect: {
    better: 'bandit',
    than: ['no-advice', 'random', 'restart-when-stuck', 'back-three-when-stuck'],
    atLeast: 0.05,
  },
  checks: [
    { about: 'the bandit does not always give the same advice', arm: 'bandit', of: 'mostUsed', atMost: 0.95 },
    { about: 'without advice some puzzles are solved', arm: 'no-advice', of: 'score', atLeast: 0.01 },
    {
      about: 'no rule solves all',
      arm: ['restart-when-stuck', 'back-three-when-stuck'],
      of: 'score',
      atMost: 0.95,
    },
  ],
  control: { positive: { better: 'restart-when-stuck', than: 'no-advice', atLeast: 0.1 } },
  budget: { before: 100, puzzles: 100, placements: 40 },
  quick: { before: 2, puzzles: 2, placements: 10 },
  simplifications: [
    'queens on a board, placed at random where none is attacked, stand for steps of reasoning of a language model',
    'the summary is of the board, exact, where the paper has a model write one; four advices',
  ],
})
