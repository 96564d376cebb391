import type { TrainingPlan } from './types.ts'

/**
 * The plan of the embedded job, a filesystem server learned by a model of 0.9M parameters on two cores. All budgets
 * are steps. `demonstrations` is left to the world, which knows its families.
 */
export const smallModelPlan: Omit<TrainingPlan, 'demonstrations'> = {
  warmStart: {
    learningRate: 0.003,
    optimizer: 'muon',
    warmup: 10,
    weightDecay: 0.01,
    clip: 1,
    batch: 32,
    epochs: 12,
    validateEvery: 46,
    patience: 3,
  },
  reinforcement: {
    learningRate: 6e-4,
    final: 0.1,
    warmup: 3,
    beta2: 0.95,
    clip: 1,
    steps: 150,
    groups: 16,
    groupSize: 8,
    temperature: 1,
    validateEvery: 0,
    recordGroups: 2,
  },
  supervised: {
    learningRate: 6e-4,
    warmup: 3,
    weightDecay: 0.01,
    clip: 1,
    batch: 32,
    validateEvery: 23,
    patience: 6,
  },
  tasks: { validation: 96, test: 408, unseenWording: 132 },
  checkpointEvery: 10,
  maxTokensPerTurn: 96,
  limits: { turns: 7, tokensPerTurn: 96, totalTokens: 640, deadlineSeconds: 120, toolDeadlineSeconds: 20 },
}
