/** The values of `agoge export --to` and `--type`. They are in a file of their own so that help loads nothing else. */
export const exportKinds = ['merged', 'lora', 'onnx', 'sft', 'dpo', 'grpo'] as const
export type ExportKind = (typeof exportKinds)[number]

export const weightTypes = ['F32', 'F16', 'BF16'] as const
export type WeightType = (typeof weightTypes)[number]

/** The values of `agoge train-offline --method`. */
export const offlineMethods = {
  dpo: 'direct preference optimisation, over pairs of episodes',
  ipo: 'identity preference optimisation',
  orpo: 'odds ratios with imitation, no reference',
  simpo: 'mean log-probabilities, no reference',
  kto: 'single episodes, successful or not',
  'reward-model': 'a number for a whole episode, from pairs',
  'process-reward-model': 'a number for each step of an episode',
} as const

export type OfflineMethod = keyof typeof offlineMethods
