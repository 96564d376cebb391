import { classicEnvironments } from 'agoge/classic'
import { createEnvironment, createVectorEnvironment } from 'agoge/classic'
import { alternate } from './alternate.ts'
import type { Measurement } from './alternate.ts'
import { betterPeer } from './peer.ts'

const cartPole = classicEnvironments['cartpole']
/** Random actions, drawn beforehand on both sides, so that only stepping is measured. */
const choices = Uint8Array.from({ length: 65_536 }, (_, i) => (Math.imul(i + 1, 2_654_435_761) >>> 16) & 1)

/** `count` steps of one environment through Gymnasium's interface: objects in and out, reset by the caller. */
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

/** `count` steps of all environments, with automatic reset. */
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
 * Steps of CartPole per second. One environment against Gymnasium's `make`, through the scalar interface and as a vector of one.
 * Then 8, 64, 1024 and 16 384 environments against Gymnasium's CartPoleVectorEnv, which is fastest with the most.
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
