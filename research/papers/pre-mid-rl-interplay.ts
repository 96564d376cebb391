import { definePaper } from '../runner/paper.ts'
import type { ArmRun } from '../runner/paper.ts'
import { examine, reinforceAnswers } from '../answers/learn-answers.ts'
import { fineTuneOnSolutions, warmStartedOnChains } from '../answers/warm-started.ts'

const places = 5
const maxTokens = 7
/** Questions of pre-training, at the edge of it, and beyond it. */
const known = [1, 2]
const edge = [3, 4]
const beyond = [5]

/** Pass@16, a share of the questions. */
const gain = warmStartedOnChains<ArmRun>({
  places,
  // A few longer questions, so that RL has something to start from.
  taught: (chains) => (random) =>
    chains.draw(random, random.pick(random.next() < 0.9 ? known : [...edge, ...beyond])),
  tested: async (model, chains) =>
    (await examine(model, chains.test(64, [...edge, ...beyond]), { maxTokens, samples: 16 })).solved,
})

/** Accuracy after RL, part of which is replaced by supervised training on the same questions with as many tokens. */
function trained(run: ArmRun, depths: readonly number[], midTraining = 0): Promise<number> {
  const { seed, budget } = run
  return gain(run, async (model, chains) => {
    const between = Math.floor(budget.steps * midTraining)
    const learn = { steps: between, learningRate: 1e-3, seed: seed + 1000, batch: 128 }
    await fineTuneOnSolutions(model, (random) => chains.draw(random, random.pick(depths)), learn)
    await reinforceAnswers(model, (random) => chains.draw(random, random.pick(depths)), {
      steps: budget.steps - between,
      seed,
      batch: 16,
      maxTokens,
      learningRate: 1e-3,
    })
  })
}

export default definePaper({
  id: 'pre-mid-rl-interplay',
  title: 'On the Interplay of Pre-Training, Mid-Training, and RL on Reasoning Language Models',
  theme: 'reasoning',
  claim:
    'Reinforcement adds to what any of many answers solves where its questions lie at the edge of what pre-training taught, not where they are known already or far beyond.',
  arms: {
    edge: (run) => trained(run, edge),
    known: (run) => trained(run, known),
    beyond: (run) => trained(run, beyond),
    'edge-with-mid-training': (run) => trained(run, edge, 0.5),
  },
  metric:
    'share of questions of three to five steps, not met before, that one of 16 answers solves (pass@16)',
  budget: { warm: 130, steps: 40 },
  quick: { warm: 2, steps: 1 },
  pairing: 'seed',
  effect: { better: 'edge', than: ['known', 'beyond'], atLeast: 0.03 },
  simplifications: [
    'pre-training of 90% questions of one or two steps, 10% of three to five, by a transformer of 21 thousand weights',
    'pass@16 stands for pass@128',
  ],
})
