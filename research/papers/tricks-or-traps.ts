import { batchGrpoAdvantages, grpoAdvantages, maskOverlong } from 'agoge/losses'
import type { Aggregation } from 'agoge/losses'
import { definePaper } from '../runner/paper.ts'
import type { ArmRun } from '../runner/paper.ts'
import { reinforceAnswers } from '../answers/learn-answers.ts'
import { warmStartedOnChains } from '../answers/warm-started.ts'
import type { ChainQuestion } from '../answers/chains.ts'
import type { ReinforceSettings } from '../answers/learn-answers.ts'

const depths = [1, 2, 3]

const gain = warmStartedOnChains<ArmRun>({ taught: depths, tested: depths })

type Switches = Partial<ReinforceSettings<ChainQuestion>>

function trained(run: ArmRun, switches: Switches): Promise<number> {
  const { seed, budget } = run
  return gain(run, (model, chains) =>
    reinforceAnswers(model, (random) => chains.draw(random, random.pick(depths)), {
      steps: budget.steps,
      seed,
      batch: 16,
      maxTokens: 5,
      learningRate: 1e-3,
      passes: 2,
      ...switches,
    }),
  )
}

const sequenceMean: Aggregation = { mode: 'sequence-mean' }
const tokenMean: Aggregation = { mode: 'token-mean' }
const batchDeviation = (rewards: number[][]) => batchGrpoAdvantages(rewards)

/** Clip-higher, token mean, zero-variance groups left out, cut-off answers masked. */
const dapo: Switches = {
  aggregation: tokenMean,
  loss: { name: 'ppo', clipLow: 0.2, clipHigh: 0.28 },
  advantages: (rewards, groups) =>
    rewards.map((group, g) =>
      grpoAdvantages(
        maskOverlong(
          group,
          groups[g].map(({ finish }) => finish === 'length'),
        ),
      ),
    ),
  examples: (examples) => examples.filter(({ advantage }) => advantage !== 0),
}

export default definePaper({
  id: 'tricks-or-traps',
  title: 'Part I: Tricks or Traps? A Deep Dive into RL for LLM Reasoning',
  theme: 'reasoning',
  claim:
    'Two tricks on the plain loss of PPO, the deviation of the whole batch and a mean over tokens, learn more than GRPO and than DAPO.',
  arms: {
    'lite-ppo': (run) => trained(run, { advantages: batchDeviation, aggregation: tokenMean }),
    grpo: (run) => trained(run, { aggregation: sequenceMean }),
    dapo: (run) => trained(run, dapo),
    'batch-deviation-only': (run) => trained(run, { advantages: batchDeviation, aggregation: sequenceMean }),
    'token-mean-only': (run) => trained(run, { aggregation: tokenMean }),
  },
  metric:
    'accuracy gained on questions of one to three steps that were not met, with the same number of answers',
  budget: { warm: 100, steps: 40 },
  quick: { warm: 2, steps: 1 },
  pairing: 'seed',
  effect: { better: 'lite-ppo', than: ['grpo', 'dapo'], atLeast: 0.03 },
  simplifications: [
    'a transformer of 21 thousand weights that chains operations on digits stands for language models on mathematics',
    'DAPO leaves zero-variance groups out instead of sampling others',
  ],
})
