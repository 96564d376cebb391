import { definePaper } from '../runner/paper.ts'
import { average } from 'agoge/statistics'
import type { ArmRun } from '../runner/paper.ts'
import { createRandom } from 'agoge/engine'
import { answerLogprobs, type TextModel } from '../answers/text-model.ts'
import { metricsOf, reinforceAnswers } from '../answers/learn-answers.ts'
import { fineTuneOnSolutions, solutionExample, warmStartedOnChains } from '../answers/warm-started.ts'
import type { Attempt } from '../answers/text-model.ts'
import type { ChainQuestion, Chains } from '../answers/chains.ts'

const depths = [1, 2, 3]

function dataSet(chains: Chains, { seed }: ArmRun): ChainQuestion[] {
  const random = createRandom(seed, 'data-set')
  return Array.from({ length: 160 }, (_, i) => chains.draw(random, depths[i % 3]))
}

const gain = warmStartedOnChains<ArmRun>({
  taught(chains, run) {
    const data = dataSet(chains, run)
    return (random) => random.pick(data)
  },
  tested: depths,
})

/** Weight of the teacher's solutions at a step, and the questions for which they are cloned. */
type Recall = (
  model: TextModel,
  groups: readonly Attempt<ChainQuestion>[][],
  step: number,
) => Promise<{ weight: number; cloned: ChainQuestion[] }> | { weight: number; cloned: ChainQuestion[] }

/** Entropy of the model's own answers, and its cross-entropy on the teacher's, each relative to its initial value. */
function recallByEntropy(): Recall {
  let first: { online: number; offline: number } | undefined
  return async (model, groups) => {
    const questions = groups.map(([{ question }]) => question)
    const online = metricsOf(groups.flat()).entropy
    const offline = await surprise(model, questions)
    first ??= { online, offline }
    const ratio = offline / first.offline / Math.max(0.05, online / first.online)
    // Where the model does well by itself, it learns from its own answers.
    const cloned = questions.filter((_, g) => metricsOf(groups[g]).reward < 0.5)
    return { weight: 0.5 * Math.min(2, ratio), cloned }
  }
}

/** Nats per token of the teacher's solutions. */
async function surprise(model: TextModel, questions: readonly ChainQuestion[]): Promise<number> {
  const examples = questions.map((question) => solutionExample(model, question))
  const logprobs = await answerLogprobs(model, examples)
  return -average(logprobs.flatMap((row) => Array.from(row)))
}

function trained(run: ArmRun, recall: Recall, share = 0): Promise<number> {
  const { seed, budget } = run
  return gain(run, async (model, chains) => {
    const data = dataSet(chains, run)
    const supervised = Math.floor(budget.steps * share)
    const learn = { steps: supervised, learningRate: 1e-3, seed: seed + 1000 }
    await fineTuneOnSolutions(model, (random) => random.pick(data), learn)
    await reinforceAnswers(model, (random) => random.pick(data), {
      steps: budget.steps - supervised,
      seed,
      batch: 16,
      maxTokens: 5,
      learningRate: 1e-3,
      async examples(examples, groups, step) {
        const { weight, cloned } = await recall(model, groups, step)
        return [...examples, ...cloned.map((question) => solutionExample(model, question, weight))]
      },
    })
  })
}

const all = (groups: readonly Attempt<ChainQuestion>[][]) => groups.map(([{ question }]) => question)

export default definePaper({
  id: 'recall-extend',
  title:
    'Recall-Extend Dynamics: Enhancing Small Language Models through Controlled Exploration and Refined Offline Integration',
  theme: 'reasoning',
  claim:
    "A teacher's solutions cloned where the model fails, with a weight by the entropy of its own answers against its surprise at the teacher's, teach more than imitation before reinforcement and than a fixed mixture.",
  arms: {
    red: (run) => trained(run, recallByEntropy()),
    'sft-then-rl': (run) => trained(run, () => ({ weight: 0, cloned: [] }), 0.5),
    'fixed-mixture': (run) => trained(run, (_, groups) => ({ weight: 0.5, cloned: all(groups) })),
    grpo: (run) => trained(run, () => ({ weight: 0, cloned: [] })),
  },
  metric:
    'accuracy gained on questions of one to three steps that were not met, with the same number of updates',
  budget: { warm: 100, steps: 40 },
  quick: { warm: 2, steps: 2 },
  pairing: 'seed',
  effect: { better: 'red', than: ['sft-then-rl', 'fixed-mixture'], atLeast: 0.03 },
  simplifications: [
    'a transformer of 21 thousand weights that chains operations on digits stands for small language models',
    "surprise at the teacher's tokens stands for the entropy on offline data",
  ],
})
