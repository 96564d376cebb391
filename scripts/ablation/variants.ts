import { findPolicyPreset } from '../../src/llm/algorithm/policy-optimisation/presets.ts'
import type { PolicyPresetName } from '../../src/llm/algorithm/policy-optimisation/presets.ts'
import type { PolicySettings } from '../../src/llm/algorithm/catalogue.ts'
import { smallModelPlan } from '../../src/llm/training/defaults.ts'
import type { TrainingPlan } from '../../src/llm/training/types.ts'

export const seeds = [1, 2, 3, 4, 5]
export const testTasks = 300

/**
 * The same for all variants: tasks, episodes, updates, learning rate. Batch settings of a preset are left out, since some would
 * need more episodes than others.
 */
export const plan: TrainingPlan = {
  ...smallModelPlan,
  demonstrations: { 'terse-countdown': 1500 },
  warmStart: {
    learningRate: 0.01,
    optimizer: 'muon',
    warmup: 10,
    clip: 1,
    batch: 50,
    epochs: 3,
    validateEvery: 10_000,
    patience: 1,
  },
  reinforcement: {
    learningRate: 1e-3,
    final: 0.1,
    warmup: 3,
    beta2: 0.95,
    clip: 1,
    steps: 60,
    groups: 16,
    groupSize: 8,
    temperature: 1,
    minibatches: 2,
    validateEvery: 0,
    recordGroups: 0,
  },
  tasks: { validation: 50, test: testTasks, unseenParaphrases: 0 },
  checkpointEvery: 10_000,
  maxTokensPerTurn: 12,
  limits: { turns: 1, tokensPerTurn: 12, deadlineSeconds: 3600, toolDeadlineSeconds: 60 },
}

const presets: PolicyPresetName[] = [
  'grpo-damped',
  'dr-grpo',
  'gspo',
  'cispo',
  'sapo',
  'rloo',
  'maxrl',
  'kimi',
]

/** By name. The others are compared with the first. */
export const variants: Record<string, PolicySettings> = Object.fromEntries(
  presets.map((name) => [name, findPolicyPreset(name).settings]),
)
