import type { ClassicAlgorithm } from '../agent.ts'
import { td3, type Td3Config, td3Presets } from './td3.ts'

export type DdpgConfig = Omit<Td3Config, 'critics' | 'targetNoise' | 'targetNoiseClip'>

const plain = ({
  critics: _critics,
  targetNoise: _targetNoise,
  targetNoiseClip: _targetNoiseClip,
  ...rest
}: Td3Config & { numEnvs: number }): DdpgConfig & { numEnvs: number } => rest

/** Settings of published runs, by where they come from. `numEnvs` is how many environments they use. */
export const ddpgPresets = {
  /** CleanRL `ddpg_continuous_action.py`, which updates the actor in every second step too. */
  cleanrl: plain(td3Presets.cleanrl),
  /** RL Baselines3 Zoo, `ddpg.yml`, Pendulum-v1 (20k steps), over the defaults of Stable-Baselines3's `DDPG` (2.3 on). */
  'sb3-zoo-pendulum': { ...plain(td3Presets['sb3-zoo-pendulum']), policyDelay: 1 },
} satisfies Record<string, DdpgConfig & { numEnvs: number }>

/**
 * Deep deterministic policy gradient (Lillicrap et al. 2016, arXiv:1509.02971): TD3 with one critic and no noise on the
 * target's actions. It explores by independent normal noise, as its later users do, not by the paper's
 * Ornstein-Uhlenbeck process.
 */
export const ddpg = (config: DdpgConfig): ClassicAlgorithm =>
  td3({ ...config, critics: 1, targetNoise: 0, targetNoiseClip: 0 })
