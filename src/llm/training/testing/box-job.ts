import { grpo } from '../../algorithm/policy-optimisation/presets.ts'
import { trainTokenizer } from '../../tokenizer/bpe-train.ts'
import { createLocalBackend } from '../../backend/local-backend.ts'
import { specialTokens } from '../../tokenizer/template.ts'
import { createTokenizer } from '../../tokenizer/tokenizer.ts'
import { taskReward } from '../../reward/rewards.ts'
import type { TrainJobOptions, TrainingPlan } from '../types.ts'
import { boxTasks, boxTexts, createBoxEnvironment } from './box-environment.ts'

/** A whole job that takes seconds: a transformer of a few thousand parameters learns to open boxes. */
export function boxJob(path: string, changes: Partial<TrainingPlan> = {}): TrainJobOptions {
  const tokenizer = createTokenizer(
    trainTokenizer(boxTexts, { vocabularySize: 8 + 256 + 48, specialTokens: [...specialTokens] }),
  )
  const plan: TrainingPlan = {
    demonstrations: { get: 48, put: 48 },
    warmStart: {
      learningRate: 0.02,
      optimizer: 'muon',
      epochs: 8,
      batch: 12,
      validateEvery: 16,
      patience: 4,
    },
    reinforcement: {
      learningRate: 0.003,
      steps: 6,
      groups: 4,
      groupSize: 6,
      temperature: 1,
      validateEvery: 4,
    },
    supervised: { learningRate: 0.003, batch: 12, validateEvery: 4, patience: 2 },
    tasks: { validation: 8, test: 12, unseenParaphrases: 4 },
    checkpointEvery: 2,
    maxTokensPerTurn: 32,
    limits: { turns: 3, deadlineSeconds: 600, toolDeadlineSeconds: 120 },
    ...changes,
  }
  return {
    command: 'test',
    folder: { path },
    seed: 5,
    environment: createBoxEnvironment(),
    tasks: boxTasks,
    tokenizer,
    backend: () =>
      Promise.resolve(
        createLocalBackend({
          config: {
            vocab_size: tokenizer.vocabularySize,
            hidden_size: 32,
            num_hidden_layers: 1,
            num_attention_heads: 2,
            num_key_value_heads: 2,
            intermediate_size: 64,
            rope_theta: 10_000,
            rms_norm_eps: 1e-5,
            tie_word_embeddings: true,
            max_position_embeddings: 256,
          },
          seed: 1,
          tokenizer,
          threads: 1,
        }),
      ),
    reward: taskReward({ perCall: -0.02, perInvalidCall: -0.1 }),
    algorithm: grpo({ kl: 0, clipHigh: 0.28, aggregation: { mode: 'token-mean' } }),
    plan,
  }
}
