import type { EpisodeLimits } from '../agent/episode-state.ts'
import type { OptimiserSettings } from './kernel.ts'
import type { TrainingPlan } from './types.ts'

/**
 * The plan for a model of 0.94M parameters on two cores: a warm start of a minute or two, then some minutes of reinforcement
 * learning. All budgets are steps. The environment sets `demonstrations`, since it knows its kinds of task.
 *
 * @example
 * const reinforcement = { ...smallModelPlan.reinforcement, groupSize: 16 }
 * await train({ environment, tasks: filesystemTasks, plan: { reinforcement } })
 */
export const smallModelPlan: Omit<TrainingPlan, 'demonstrations'> = {
  warmStart: {
    learningRate: 0.003,
    optimizer: 'muon',
    warmup: 10,
    weightDecay: 0.01,
    clip: 1,
    batch: 30,
    epochs: 4,
    validateEvery: 20,
    patience: 3,
  },
  reinforcement: {
    learningRate: 3e-4,
    final: 0.1,
    warmup: 3,
    beta2: 0.95,
    clip: 1,
    steps: 200,
    groups: 16,
    groupSize: 8,
    temperature: 1,
    minibatches: 2,
    // Steps that lose must not end in the weights.
    validateEvery: 25,
    keep: 'best',
    recordGroups: 2,
  },
  supervised: {
    learningRate: 0.0004,
    optimizer: 'muon',
    warmup: 3,
    weightDecay: 0.01,
    clip: 1,
    batch: 30,
    validateEvery: 12,
    patience: 8,
  },
  tasks: { validation: 105, test: 405, unseenParaphrases: 270 },
  checkpointEvery: 10,
  maxTokensPerTurn: 72,
  limits: { turns: 6, tokensPerTurn: 72, totalTokens: 640, deadlineSeconds: 120, toolDeadlineSeconds: 20 },
}

/**
 * Minimum tokens per turn of a public model. Its reasoning and its tool-call syntax take more than those of Agoge's own small
 * model.
 */
const publicTurnTokens = 256

/** Tokens per turn of a public checkpoint, for a given context window. */
export function publicTurn(maxTokensPerTurn: number, window: number): number {
  return Math.max(maxTokensPerTurn, Math.min(publicTurnTokens, Math.floor(window / 4)))
}

/** Limits for a public checkpoint: an episode may fill its context window. */
export function publicLimits(limits: EpisodeLimits, window: number): EpisodeLimits {
  return { ...limits, tokensPerTurn: publicTurn(limits.tokensPerTurn ?? 1, window), totalTokens: window }
}

/** The best learning rate of LoRA over that of all weights, with AdamW (docs/results/lora-rates.md). */
const loraRateFactor = 3

/**
 * The plan for training a LoRA adapter: three times the learning rate wherever the optimiser is AdamW. Muon's rates stay,
 * for which the study found no factor that ranks 4 and 16 have in common.
 */
export function planForLora<P extends Pick<TrainingPlan, 'warmStart' | 'reinforcement' | 'supervised'>>(
  plan: P,
): P {
  const adjusted = <S extends OptimiserSettings>(settings: S): S =>
    settings.optimizer === 'muon'
      ? settings
      : { ...settings, learningRate: loraRateFactor * settings.learningRate }
  return {
    ...plan,
    warmStart: adjusted(plan.warmStart),
    reinforcement: adjusted(plan.reinforcement),
    supervised: adjusted(plan.supervised),
  }
}

/** The plan with these turn and episode limits. */
export function planForWindow<P extends Pick<TrainingPlan, 'limits' | 'maxTokensPerTurn'>>(
  plan: P,
  window: number,
): P {
  const { limits, maxTokensPerTurn } = plan
  return {
    ...plan,
    maxTokensPerTurn: publicTurn(maxTokensPerTurn, window),
    limits: publicLimits(limits, window),
  }
}
