/** What `agoge export --to` knows, and the types of `--type`: apart, so that help loads nothing else. */
export const exportKinds = ['merged', 'lora', 'onnx', 'sft', 'dpo', 'grpo'] as const
export type ExportKind = (typeof exportKinds)[number]

export const weightTypes = ['F32', 'F16', 'BF16'] as const
export type WeightType = (typeof weightTypes)[number]
