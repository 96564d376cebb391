import { createVectorEnvironment, hopper, invertedPendulum, loadMujoco } from 'agoge/classic'
import { alternate } from './alternate.ts'
import type { Measurement } from './alternate.ts'
import { betterPeer } from './peer.ts'

/** Random actions in [-1, 1], drawn beforehand on both sides, so that only stepping is measured. */
const choices = Float32Array.from(
  { length: 65_536 },
  (_, i) => (Math.imul(i + 1, 2_654_435_761) >> 16) / 32_768,
)

/** `count` steps of a vector, with automatic reset. */
function stepper(
  definition: typeof hopper | typeof invertedPendulum,
  numEnvs: number,
): (count: number) => void {
  const vector = createVectorEnvironment(definition, { numEnvs, seed: 1 })
  const { actions } = vector
  vector.reset()
  let at = 0
  return (count) => {
    for (let i = 0; i < count; i++) {
      for (let k = 0; k < actions.length; k++) actions[k] = choices[at++ & 65_535]
      vector.step()
    }
  }
}

/**
 * Steps per second of the environments of MuJoCo on one core, one environment and eight, against Gymnasium's `make` and its
 * SyncVectorEnv with Python's MuJoCo.
 */
export async function mujocoStep(): Promise<Measurement[]> {
  await loadMujoco()
  const found: Measurement[] = []
  for (const [definition, peer, steps] of [
    [invertedPendulum, 'InvertedPendulum-v5', 16_000],
    [hopper, 'Hopper-v5', 4000],
  ] as const) {
    for (const numEnvs of [1, 8]) {
      const run = stepper(definition, numEnvs)
      run(steps / numEnvs)
      found.push(
        await alternate({
          name: `mujoco-step ${definition.name} ${numEnvs} environments`,
          unit: 'steps/s',
          amount: numEnvs,
          count: steps / numEnvs,
          ours: (count) => Promise.resolve(run(count)),
          peer: await betterPeer('mujoco_step', steps / numEnvs, [peer, String(numEnvs)]),
        }),
      )
    }
  }
  return found
}
