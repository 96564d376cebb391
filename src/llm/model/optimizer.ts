import { adamWStep, clipScale, createMuon, globalNorm } from '../../engine/nn/index.ts'
import { AgogeError } from '../../error.ts'
import type { OptimStep } from '../model-backend.ts'
import type { ParameterEntry, Parameters } from './parameters.ts'

/**
 * Throws for invalid settings of a step, such as those that would destroy the weights.
 *
 * @throws AgogeError `bad-optim-step` naming the setting.
 */
export function checkOptimStep(step: OptimStep): void {
  const { learningRate, optimizer = 'adamw', beta1 = 0, beta2 = 0, epsilon = 0, weightDecay = 0, clip } = step
  const refuse = (setting: keyof OptimStep, given: unknown, expected: string): never => {
    throw new AgogeError(`a step of the optimiser cannot have this ${setting}; none was taken`, {
      code: 'bad-optim-step',
      given,
      expected,
      hint: 'look at what computes it: a schedule that divides by 0 steps gives NaN',
    })
  }
  for (const [setting, value] of Object.entries({ learningRate, epsilon, weightDecay }))
    if (!(value >= 0 && value < Infinity)) refuse(setting as keyof OptimStep, value, 'a number of 0 or more')
  for (const [setting, value] of Object.entries({ beta1, beta2 }))
    if (!(value >= 0 && value < 1)) refuse(setting as keyof OptimStep, value, 'a number from 0, below 1')
  if (clip !== undefined && !(clip > 0))
    refuse('clip', clip, 'a number above 0; leave it out for a gradient that is not clipped')
  if (!['adamw', 'muon'].includes(optimizer)) refuse('optimizer', optimizer, 'adamw or muon')
}

/** State of the optimisers, in the layout of the parameters. */
export interface OptimizerState {
  first: Float32Array
  second: Float32Array
  momentum: Float32Array
  /**
   * AdamW steps so far for the block matrices and for everything else. They differ because Muon updates only the block
   * matrices.
   */
  matrixSteps: number
  otherSteps: number
}

export function createOptimizerState(size: number): OptimizerState {
  return {
    first: new Float32Array(size),
    second: new Float32Array(size),
    momentum: new Float32Array(size),
    matrixSteps: 0,
    otherSteps: 0,
  }
}

interface Optimizer {
  /** Updates the parameters in place. Returns the gradient norm before clipping; does not change the gradient. */
  step(
    parameters: Parameters,
    gradient: Float32Array,
    state: OptimizerState,
    options: OptimStep,
  ): Promise<number>
  dispose(): Promise<void>
}

export function createOptimizer(threads?: number): Optimizer {
  const muon = createMuon(threads === undefined ? {} : { threads })
  return {
    async step(parameters, gradient, state, options) {
      checkOptimStep(options)
      const norm = globalNorm([gradient])
      if (!Number.isFinite(norm)) {
        throw new AgogeError('the gradient is not finite, so no step was taken', {
          code: 'gradient-not-finite',
          given: norm,
          expected: 'finite numbers',
          hint: 'lower the learning rate, or load the last checkpoint',
        })
      }
      const {
        learningRate,
        optimizer = 'adamw',
        beta1 = 0.9,
        beta2 = 0.95,
        epsilon = 1e-8,
        weightDecay = 0,
      } = options
      const gradientScale = options.clip === undefined ? 1 : clipScale(norm, options.clip)
      const withMuon = ({ kind }: ParameterEntry): boolean => optimizer === 'muon' && kind === 'matrix'
      const { entries } = parameters.layout
      state.otherSteps++
      if (optimizer === 'adamw') state.matrixSteps++
      for (const entry of entries.filter((each) => !withMuon(each))) {
        const part = (array: Float32Array) => array.subarray(entry.offset, entry.offset + entry.size)
        adamWStep(
          part(parameters.data),
          part(gradient),
          { first: part(state.first), second: part(state.second) },
          entry.kind === 'matrix' ? state.matrixSteps : state.otherSteps,
          {
            learningRate,
            beta1,
            beta2,
            epsilon,
            gradientScale,
            weightDecay: entry.kind === 'norm' || entry.kind === 'bias' ? 0 : weightDecay,
          },
        )
      }
      const matrices = entries.filter(withMuon).map(({ shape, offset, size }) => ({
        rows: shape[0],
        columns: shape[1],
        parameter: parameters.data.subarray(offset, offset + size),
        gradient: gradient.subarray(offset, offset + size),
        momentum: state.momentum.subarray(offset, offset + size),
      }))
      if (matrices.length > 0) await muon.step(matrices, { learningRate, weightDecay, gradientScale })
      return norm
    },
    dispose: () => muon.release(),
  }
}
