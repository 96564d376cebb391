import { ppo, ppoPresets } from '../../../algorithm/arrays/index.ts'
import { cartPole } from '../../../worlds/classic/cart-pole.ts'
import type { ArrayTrainOptions } from '../types.ts'

/** A second of PPO on CartPole; checkpoints fall into the middle of rollouts. */
export const shortRun = (out: string): ArrayTrainOptions => ({
  world: cartPole,
  algorithm: ppo({ ...ppoPresets['sb3-zoo-cartpole'], epochs: 2, hidden: [16] }),
  settings: { algorithm: 'ppo', preset: 'test' },
  slots: 4,
  steps: 6000,
  seed: 3,
  evaluate: { episodes: 5, every: 1500, during: 3 },
  checkpointEvery: 300,
  out,
})
