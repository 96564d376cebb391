import type { Measurement } from './alternate.ts'
import { trainAgainstPeer } from './train-peer.ts'

/** PPO with CleanRL's settings against its `ppo.py`, and with the zoo's settings against Stable-Baselines3. */
export const ppoCartPole = async (): Promise<Measurement[]> => {
  const shared = { environment: 'cartpole', algorithm: 'ppo', warmup: 5000, peer: 'ppo' } as const
  return [
    await trainAgainstPeer({
      ...shared,
      name: 'ppo-cartpole',
      preset: 'cleanrl',
      steps: 100_000,
      peerArguments: ['cleanrl'],
    }),
    await trainAgainstPeer({
      ...shared,
      name: 'ppo-cartpole zoo',
      preset: 'sb3-zoo-cartpole',
      steps: 50_000,
      peerArguments: ['sb3-zoo'],
    }),
  ]
}

/**
 * DQN with the zoo's settings against Stable-Baselines3: 10 000 of its 50 000 steps. All steps after the first 1000 cost the
 * same.
 */
export const dqnCartPole = (): Promise<Measurement> =>
  trainAgainstPeer({
    name: 'dqn-cartpole',
    environment: 'cartpole',
    algorithm: 'dqn',
    preset: 'sb3-zoo-cartpole',
    steps: 10_000,
    warmup: 3000,
    peer: 'dqn',
  })

/** SAC with the zoo's settings: 3000 of its 20 000 steps. All but the first 100 cost the same. */
export const sacPendulum = (): Promise<Measurement> =>
  trainAgainstPeer({
    name: 'sac-pendulum',
    environment: 'pendulum',
    algorithm: 'sac',
    preset: 'sb3-zoo-pendulum',
    steps: 5000,
    warmup: 400,
    peer: 'sac',
  })
