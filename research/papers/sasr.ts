import { definePaper } from '../runner/paper.ts'
import type { ArmRun } from '../runner/paper.ts'
import { createRandom } from 'agoge/engine'
import { reinforceAnswers } from '../answers/learn-answers.ts'
import { solutionExample, warmStartedOnChains } from '../answers/warm-started.ts'
import type { ChainQuestion, Chains } from '../answers/chains.ts'

const depths = [1, 2, 3]

/** The data set: questions with their solutions, for both cloning and RL. */
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

type Kind = 'clone' | 'reinforce'
/** The kind of the next step, from the last gradient norms of each kind (`undefined`: none yet). */
type Choice = (step: number, norms: Partial<Record<Kind, number>>, chance: number) => Kind

const adaptive: Choice = (step, { clone, reinforce }, chance) => {
  if (clone === undefined || reinforce === undefined) return step % 2 === 0 ? 'clone' : 'reinforce'
  return chance < clone / (clone + reinforce) ? 'clone' : 'reinforce'
}

function trained(run: ArmRun, choose: Choice): Promise<number> {
  const { seed, budget } = run
  const random = createRandom(seed, 'choices')
  const norms: Partial<Record<Kind, number>> = {}
  let kind: Kind = 'clone'
  return gain(run, (model, chains) => {
    const data = dataSet(chains, run)
    return reinforceAnswers(model, (draws) => draws.pick(data), {
      steps: budget.steps,
      seed,
      batch: 16,
      maxTokens: 5,
      learningRate: 1e-3,
      examples(examples, groups, step) {
        kind = choose(step, norms, random.next())
        if (kind === 'reinforce') return examples
        // As many solutions as sampled questions, and as many again.
        const others = Array.from(groups, () => random.pick(data))
        const shown = [...groups.map(([{ question }]) => question), ...others]
        return shown.map((question) => solutionExample(model, question))
      },
      onStep({ report }) {
        if (report?.gradientNorm !== undefined) norms[kind] = report.gradientNorm
      },
    })
  })
}

export default definePaper({
  id: 'sasr',
  title:
    'Step-wise Adaptive Integration of Supervised Fine-tuning and Reinforcement Learning for Task-Specific LLMs',
  theme: 'reasoning',
  claim:
    'After a warm-up, choosing at each step between imitation and GRPO by the norms of their gradients learns more than either alone and than taking turns.',
  arms: {
    sasr: (run) => trained(run, adaptive),
    supervised: (run) => trained(run, () => 'clone'),
    grpo: (run) => trained(run, () => 'reinforce'),
    'in-turn': (run) => trained(run, (step) => (step % 2 === 0 ? 'clone' : 'reinforce')),
  },
  metric:
    'accuracy gained on questions of one to three steps that were not met, with the same number of updates',
  budget: { warm: 100, steps: 40 },
  quick: { warm: 2, steps: 1 },
  pairing: 'seed',
  effect: { better: 'sasr', than: ['supervised', 'grpo', 'in-turn'], atLeast: 0.03 },
  simplifications: [
    'a transformer of 21 thousand weights that chains operations on digits stands for language models on mathematics',
    'the norm of the gradient of imitation is the only measure of divergence from the data',
  ],
})
