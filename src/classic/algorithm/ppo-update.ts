import { createAdam } from '../../engine/nn/index.ts'
import type { AdamState, Objective, ParameterSet } from '../../engine/nn/index.ts'
import type { HostTensor } from '../../engine/tensor/index.ts'
import type { UpdateMetrics } from './agent.ts'
import { adaptBeta } from './kl-control.ts'
import type { KlPenalty } from './kl-control.ts'
import type { PpoMetric } from './ppo-loss.ts'

export interface PpoUpdateConfig {
  epochs: number
  learningRate: number
  clip: number
  maxGradientNorm: number
  /** Which of learning rate and clip fall to 0 in a straight line. */
  anneal: readonly ('learningRate' | 'clip')[]
  /** End an update before a step whose estimated divergence from the acting policy is above 1.5 times this. */
  targetKl?: number
  klPenalty?: KlPenalty
}

interface PpoUpdateState {
  adam: AdamState
  beta: number
}

/** The epochs of PPO over the minibatches of a rollout, with their optimiser. */
export function createPpoUpdate(
  config: PpoUpdateConfig,
  parameters: ParameterSet,
  objective: Objective<PpoMetric>,
) {
  const adam = createAdam(parameters.data.length, {
    epsilon: 1e-5,
    maxGradientNorm: config.maxGradientNorm,
  })
  let beta = config.klPenalty?.beta ?? 0
  const scalar = (value: number): HostTensor => ({ data: Float32Array.of(value), shape: [1] })
  return {
    /** `left`: the share of training that is still to come. Each epoch asks for minibatches anew. */
    async run(left: number, minibatches: () => Iterable<Record<string, HostTensor>>): Promise<UpdateMetrics> {
      const learningRate = config.learningRate * (config.anneal.includes('learningRate') ? left : 1)
      const clip = config.clip * (config.anneal.includes('clip') ? left : 1)
      const sums: UpdateMetrics = {}
      let count = 0
      let kl = 0
      updating: for (let epoch = 0; epoch < config.epochs; epoch++) {
        for (const batch of minibatches()) {
          const { loss, outputs } = await objective.evaluate(parameters, {
            ...batch,
            clip: scalar(clip),
            beta: scalar(beta),
          })
          kl = outputs.kl.data[0]
          if (config.targetKl !== undefined && kl > 1.5 * config.targetKl) break updating
          const gradientNorm = adam.step(parameters.data, objective.gradient.data, learningRate)
          const metrics = {
            loss,
            gradientNorm,
            ...Object.fromEntries(Object.entries(outputs).map(([k, v]) => [k, v.data[0]])),
          }
          for (const [name, value] of Object.entries(metrics)) sums[name] = (sums[name] ?? 0) + value
          count++
        }
      }
      if (config.klPenalty !== undefined) beta = adaptBeta(beta, kl, config.klPenalty.target)
      return Object.fromEntries(Object.entries(sums).map(([name, sum]) => [name, sum / count]))
    },
    state: (): PpoUpdateState => ({ adam: adam.state(), beta }),
    restore(state: PpoUpdateState): void {
      adam.restore(state.adam)
      beta = state.beta
    },
  }
}
