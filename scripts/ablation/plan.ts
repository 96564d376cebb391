import { chainTask, noisyJudge, type TrainingJudge } from '../../research/testbeds/tiny-transformer/tasks.ts'
import { createTestbed, type Testbed } from '../../research/testbeds/tiny-transformer/testbed.ts'

/** What every run shares. It is stored beside the rows, so that rows of another plan are never mixed in. */
export const plan = {
  presets: ['grpo-damped', 'grpo', 'dr-grpo', 'dapo', 'gspo', 'cispo', 'sapo', 'rloo', 'maxrl', 'kimi'],
  baseline: 'grpo-damped',
  /** Extended by the factor of about 3 where the best rate of a preset and task is at an edge, up to `extensions` times. */
  rates: [1e-4, 3e-4, 1e-3, 3e-3],
  extensions: 3,
  tuningSeeds: [101, 102, 103, 104],
  firstSeed: 1001,
  /** With fewer, the exact test cannot fall below 5% after Holm's correction of the whole family. */
  fewestSeeds: 12,
  mostSeeds: 16,
  /** Points of exact pass@1. */
  effect: 3,
  steps: 40,
  batch: 8,
  groupSize: 8,
  epochs: 2,
  minibatches: 2,
} as const

export interface AblationTask {
  testbed: Testbed
  /** In training; default: the true judge. */
  judge?: TrainingJudge
  about: string
  why: string
}

export const tasks: Readonly<Record<string, AblationTask>> = {
  exact: {
    testbed: createTestbed({ task: (seed) => chainTask({ seed, operations: 'abcd' }) }),
    about: 'chains of 2 and 3 operations, every digit judged, from 30% pass@1',
    why: 'most groups hold right and wrong answers: what differs is the step that each loss takes',
  },
  rare: {
    testbed: createTestbed({
      task: (seed) => chainTask({ seed, operations: 'abcd', depths: [1, 2, 3, 4] }),
      warm: { competence: 0.15 },
    }),
    about: 'chains of 1 to 4 operations, every digit judged, from 15% pass@1',
    why: 'many groups have one right answer or none: what differs is the weight of rare success (division by deviation or by mean)',
  },
  noisy: {
    testbed: createTestbed({ task: (seed) => chainTask({ seed, operations: 'abcd' }) }),
    judge: noisyJudge(0.1),
    about: 'as `exact`, but a judge flips every tenth reward in training; the score is of the true judge',
    why: 'an only success may be an error: a division by the deviation or the mean enlarges it',
  },
}
