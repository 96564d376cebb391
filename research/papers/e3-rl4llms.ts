import { definePaper } from '../runner/paper.ts'
import type { ArmRun } from '../runner/paper.ts'
import { createRandom } from 'agoge/engine'
import { attempt } from '../answers/text-model.ts'
import { metricsOf, reinforceAnswers } from '../answers/learn-answers.ts'
import { warmStartedOnChains } from '../answers/warm-started.ts'

const depths = [1, 2, 3, 4]
const batch = 16
const groupSize = 8

const gain = warmStartedOnChains<ArmRun>({ places: 4, taught: depths, tested: depths })

/** Group sizes in proportion to the recent failure rate of each question, at least 2 each; `total` in all. */
function allocate(failures: readonly number[], total: number): number[] {
  const free = total - 2 * failures.length
  const sum = failures.reduce((all, share) => all + share, 0)
  let given = 0
  let owed = 0
  return failures.map((share) => {
    owed += (free * share) / sum
    const more = Math.round(owed) - given
    given += more
    return 2 + more
  })
}

function trained(run: ArmRun, adapts: { rollouts?: boolean; temperature?: boolean }): Promise<number> {
  const { seed, budget } = run
  return gain(run, async (model, chains) => {
    const random = createRandom(seed, 'pool')
    // A fixed pool, because the difficulty of a question is known only from earlier attempts.
    const pool = Array.from({ length: 64 }, (_, i) => chains.draw(random, depths[i % 4]))
    const failed = new Map(pool.map(({ prompt }) => [prompt, 0.5]))
    let temperature = 1
    let target: number | undefined
    await reinforceAnswers(model, (draws) => draws.pick(pool), {
      steps: budget.steps,
      seed,
      batch,
      maxTokens: 6,
      learningRate: 1e-3,
      async sample(questions, settings) {
        const failures = questions.map(({ prompt }) => Math.max(0.05, failed.get(prompt) ?? 0.5))
        const sizes = allocate(failures, batch * groupSize)
        const size = adapts.rollouts === true ? (i: number) => sizes[i] : groupSize
        const groups = await attempt(model, questions, { ...settings, temperature, groupSize: size })
        for (const group of groups) {
          const { prompt } = group[0].question
          failed.set(prompt, 0.5 * (failed.get(prompt) ?? 0.5) + 0.5 * (1 - metricsOf(group).reward))
        }
        return groups
      },
      onStep({ entropy }) {
        target ??= entropy
        if (adapts.temperature !== true) return
        temperature = Math.min(1.5, Math.max(0.7, temperature + 0.2 * (target - entropy)))
      },
    })
  })
}

export default definePaper({
  id: 'e3-rl4llms',
  title: 'Enhancing Efficiency and Exploration in Reinforcement Learning for LLMs',
  theme: 'reasoning',
  claim:
    'More answers to hard questions and fewer to easy ones, at a temperature that holds entropy where it was, learn more than GRPO with as many answers in all.',
  arms: {
    e3: (run) => trained(run, { rollouts: true, temperature: true }),
    grpo: (run) => trained(run, {}),
    'rollouts-only': (run) => trained(run, { rollouts: true }),
    'temperature-only': (run) => trained(run, { temperature: true }),
  },
  metric:
    'accuracy gained on questions of one to four steps that were not met, with the same number of answers',
  budget: { warm: 100, steps: 40 },
  quick: { warm: 2, steps: 1 },
  pairing: 'seed',
  effect: { better: 'e3', than: ['grpo'], atLeast: 0.03 },
  simplifications: [
    'a transformer of 21 thousand weights that chains operations on digits stands for language models on mathematics',
  ],
})
