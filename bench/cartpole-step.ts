import { classicEnvironments } from 'agoge'
import { createEnvironment, createVectorEnvironment } from 'agoge/classic'
import { alternate } from './alternate.ts'
import type { Measurement } from './alternate.ts'
import { betterPeer } from './peer.ts'

const cartPole = classicEnvironments['cartpole']
/** Random choices, drawn beforehand on both sides so that stepping alone is measured. */
const choices = Uint8Array.from({ length: 65_536 }, (_, i) => (Math.imul(i + 1, 2_654_435_761) >>> 16) & 1)

/** `count` steps of one environment with Gymnasium's interface: objects in and out, reset by the caller. */
function scalar(): (count: number) => void {
  const environment = createEnvironment(cartPole, { seed: 1 })
  environment.reset()
  let at = 0
  return (count) => {
    for (let i = 0; i < count; i++) {
      const { terminated, truncated } = environment.step(choices[at++ & 65_535])
      if (terminated || truncated) environment.reset()
    }
  }
}

/** `count` steps of all environments; ends begin again by themselves. */
function vector(numEnvs: number): (count: number) => void {
  const environment = createVectorEnvironment(cartPole, { numEnvs, seed: 1 })
  environment.reset()
  let at = 0
  return (count) => {
    const { actions } = environment
    for (let i = 0; i < count; i++) {
      for (let envIndex = 0; envIndex < numEnvs; envIndex++) actions[envIndex] = choices[at++ & 65_535]
      environment.step()
    }
  }
}

/**
 * Stepping CartPole in environment steps a second: one environment against Gymnasium's `make`, by the scalar interface
 * and as a vector of one environment, and 8, 64, 1024 and 16 384 of them against Gymnasium's CartPoleVectorEnv, which is quickest with the
 * most.
 */
export async function cartPoleStep(): Promise<Measurement[]> {
  const found: Measurement[] = []
  for (const [name, numEnvs, peerEnvs, run] of [
    ['cartpole-step scalar', 1, 0, scalar()],
    ['cartpole-step 1 environment', 1, 0, vector(1)],
    ...[8, 64, 1024, 16_384].map((n) => [`cartpole-step ${n} environments`, n, n, vector(n)] as const),
  ] as const) {
    // About half a second on both sides.
    const peerCount = peerEnvs === 0 ? 50_000 : Math.min(6000, Math.ceil(6_000_000 / peerEnvs))
    found.push(
      await alternate({
        name,
        unit: 'steps/s',
        amount: numEnvs,
        count: peerCount,
        oursCount: Math.ceil((numEnvs === 1 ? 5_000_000 : 20_000_000) / numEnvs),
        ours: (count) => Promise.resolve(run(count)),
        peer: await betterPeer('cartpole_step', Math.min(1000, peerCount), [String(peerEnvs)]),
      }),
    )
  }
  return found
}
