import { definePaper } from '../runner/paper.ts'
import { average } from 'agoge/statistics'
import type { ArmRun } from '../runner/paper.ts'
import { createRandom } from 'agoge/engine'
import { metricsOf, reinforceAnswers } from '../answers/learn-answers.ts'
import { remember } from '../answers/text-model.ts'
import { warmStartedOnChains } from '../answers/warm-started.ts'
import type { ChainQuestion, Chains } from '../answers/chains.ts'

const depths = [1, 2, 3, 4, 5]
const batch = 16
const poolSize = 96

const gain = warmStartedOnChains<ArmRun>({ places: 5, taught: [1, 2, 3], tested: [1, 2, 3, 4] })

function poolOf(chains: Chains, { seed }: ArmRun): ChainQuestion[] {
  const random = createRandom(seed, 'pool')
  return Array.from({ length: poolSize }, (_, i) => chains.draw(random, depths[i % 5]))
}

/** The improvement by RL on a set over several passes, and each question's mean reward in each pass. */
async function train(run: ArmRun, choose: (pool: ChainQuestion[]) => ChainQuestion[]) {
  const { seed, budget } = run
  const curves: number[][] = Array.from({ length: poolSize }, () => [])
  const gained = await gain(run, (model, chains) => {
    const set = choose(poolOf(chains, run))
    let asked = 0
    return reinforceAnswers(model, () => set[asked++ % set.length], {
      steps: budget.steps,
      seed,
      batch,
      maxTokens: 7,
      learningRate: 1e-3,
      onStep({ groups, step }) {
        groups.forEach((group, g) => curves[(step * batch + g) % set.length].push(metricsOf(group).reward))
      },
    })
  })
  return { gained, curves }
}

const full = remember((run: ArmRun) => train(run, (pool) => pool))

/** How close each curve is to the mean curve, normalised by the distance of the mean curve from 1 (LIMR, eq. 1). */
function alignments(curves: readonly number[][]): number[] {
  const passes = Math.min(...curves.map((curve) => curve.length))
  const centre = Array.from({ length: passes }, (_, k) => average(curves.map((curve) => curve[k])))
  const scale = centre.reduce((sum, value) => sum + (1 - value) ** 2, 0)
  return curves.map((curve) => 1 - centre.reduce((sum, value, k) => sum + (curve[k] - value) ** 2, 0) / scale)
}

async function aligned(run: ArmRun): Promise<number> {
  const { curves } = await full(run)
  const scores = alignments(curves)
  const best = scores.map((_, i) => i).sort((a, b) => scores[b] - scores[a])
  return (await train(run, (pool) => best.slice(0, poolSize / 3).map((i) => pool[i]))).gained
}

export default definePaper({
  id: 'limr',
  title: 'LIMR: Less is More for RL Scaling',
  theme: 'reasoning',
  claim:
    'The third of the questions whose rewards rise most as the mean does teaches more, in as many steps, than all questions and than a random third.',
  arms: {
    full: async (run) => (await full(run)).gained,
    aligned,
    'random-third': async (run) =>
      (
        await train(run, (pool) =>
          createRandom(run.seed, 'third')
            .shuffle(pool)
            .slice(0, poolSize / 3),
        )
      ).gained,
  },
  metric:
    'accuracy gained on questions of one to four steps that were not met, with the same number of answers',
  budget: { warm: 130, steps: 48 },
  quick: { warm: 2, steps: 6 },
  pairing: 'seed',
  effect: { better: 'aligned', than: ['full', 'random-third'], atLeast: 0.03 },
  simplifications: [
    'a pool of 96 questions of one to five steps, for a transformer of 21 thousand weights taught up to three, stands for 8523 problems',
  ],
})
