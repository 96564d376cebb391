import { AgogeError } from '../../error.ts'
import type { OptimStep } from '../model-backend.ts'

/**
 * Throws for a step that would spoil the weights, or do another thing than it says.
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
