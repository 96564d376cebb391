/** What the matrices of the sampler can be held in. */
export const samplingWeightTypes = ['float32', 'int8'] as const
export type SamplingWeights = (typeof samplingWeightTypes)[number]
