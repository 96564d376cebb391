import type { ClassicAlgorithm } from '../agent.ts'
import { td3, type Td3Config, td3Presets } from './td3.ts'

/** Settings of `ddpg`. `ddpgPresets` has those of published runs. */
export type DdpgConfig = Omit<Td3Config, 'critics' | 'targetNoise' | 'targetNoiseClip'>

const plain = ({
  critics: _critics,
  targetNoise: _targetNoise,
  targetNoiseClip: _targetNoiseClip,
  ...rest
}: Td3Config & { numEnvs: number }): DdpgConfig & { numEnvs: number } => rest

/** Settings of published runs, named after their source. `numEnvs` is their number of environments. */
export const ddpgPresets = {
  /** CleanRL `ddpg_continuous_action.py`, which also updates the actor every second step. */
  cleanrl: plain(td3Presets.cleanrl),
  /** RL Baselines3 Zoo, `ddpg.yml`, Pendulum-v1 (20k steps), over the defaults of Stable-Baselines3's `DDPG` (2.3 on). */
  'sb3-zoo-pendulum': { ...plain(td3Presets['sb3-zoo-pendulum']), policyDelay: 1 },
} satisfies Record<string, DdpgConfig & { numEnvs: number }>

/**
 * Deep deterministic policy gradient (Lillicrap et al. 2016, arXiv:1509.02971): TD3 with one critic and without
 * noise on the target's actions. Explores with independent normal noise, as is common today, not with the paper's
 * Ornstein-Uhlenbeck process.
 */
export const ddpg = (config: DdpgConfig): ClassicAlgorithm =>
  td3({ ...config, critics: 1, targetNoise: 0, targetNoiseClip: 0 })
