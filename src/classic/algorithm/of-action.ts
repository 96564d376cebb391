import { cast, constant, equal, mul, reshape, sum } from '../../engine/tensor/index.ts'
import type { Tensor } from '../../engine/tensor/index.ts'

/**
 * The numbers [B, atoms] of the actions [B, 1] that were taken, out of those of all [B, actions * atoms]; the first
 * action has the number `start`.
 */
export function ofAction(
  all: Tensor,
  taken: Tensor,
  { actions, atoms, start }: { actions: number; atoms: number; start: number },
): Tensor {
  const [rows] = all.shape
  const numbered = constant(
    Float32Array.from({ length: actions }, (_, i) => start + i),
    [1, actions],
  )
  const hit = reshape(cast(equal(taken, numbered), 'float32'), [rows, actions, 1])
  return sum(mul(reshape(all, [rows, actions, atoms]), hit), { axes: [1] })
}
