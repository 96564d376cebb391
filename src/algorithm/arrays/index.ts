import type { World } from '../../environment/index.ts'
import { tabularAlgorithms } from '../tabular/catalogue.ts'
import { a2c, a2cPresets } from './a2c.ts'
import { entry } from './catalogue.ts'
import type { ArrayAlgorithmEntry } from './catalogue.ts'
import { c51, c51Presets } from './c51.ts'
import { ddpg, ddpgPresets } from './ddpg.ts'
import { dqn, dqnPresets } from './dqn.ts'
import { cmaEs, cmaEsPresets, openAiEs, openAiEsPresets } from './evolution.ts'
import { ppo, ppoPresets } from './ppo.ts'
import { pqn, pqnPresets } from './pqn.ts'
import { qrDqn, qrDqnPresets } from './qr-dqn.ts'
import { reinforce, reinforcePresets } from './reinforce.ts'
import { discreteSac, discreteSacPresets } from './sac-discrete.ts'
import { sac, sacPresets } from './sac.ts'
import { td3, td3Presets } from './td3.ts'

export type { ArrayAgent, ArrayAlgorithm, UpdateMetrics } from './agent.ts'
export { entry } from './catalogue.ts'
export type { ArrayAlgorithmEntry, Preset } from './catalogue.ts'
export { ppo, ppoPresets } from './ppo.ts'
export type { PpoConfig } from './ppo.ts'
export type { CarriedGruBody } from './recurrent-ppo.ts'
export { pqn, pqnPresets } from './pqn.ts'
export type { PqnConfig } from './pqn.ts'
export { qrDqn, qrDqnPresets } from './qr-dqn.ts'
export type { QrDqnConfig } from './qr-dqn.ts'
export { a2c, a2cPresets } from './a2c.ts'
export type { A2cConfig } from './a2c.ts'
export { counts, explorationBonuses, icm, rnd, withBonus } from './bonus/index.ts'
export type {
  BonusEntry,
  CountOptions,
  ExplorationBonus,
  IcmOptions,
  MakeBonus,
  RndOptions,
} from './bonus/index.ts'
export { c51, c51Presets } from './c51.ts'
export type { C51Config } from './c51.ts'
export { ddpg, ddpgPresets } from './ddpg.ts'
export type { DdpgConfig } from './ddpg.ts'
export { dqn, dqnPresets } from './dqn.ts'
export type { DqnConfig } from './dqn.ts'
export { cmaEs, cmaEsPresets, openAiEs, openAiEsPresets } from './evolution.ts'
export type { CmaEsConfig, OpenAiEsConfig } from './evolution.ts'
export type { KlPenalty } from './kl-control.ts'
export { reinforce, reinforcePresets } from './reinforce.ts'
export type { ReinforceConfig } from './reinforce.ts'
export { discreteSac, discreteSacPresets } from './sac-discrete.ts'
export type { DiscreteSacConfig } from './sac-discrete.ts'
export { sac, sacPresets } from './sac.ts'
export type { SacConfig } from './sac.ts'
export { td3, td3Presets } from './td3.ts'
export type { Td3Config } from './td3.ts'

const isContinuous = ({ action }: World): boolean =>
  action.type === 'box' && action.low.every(Number.isFinite) && action.high.every(Number.isFinite)

const hasChoices = ({ action }: World): boolean => action.type === 'discrete'

/** The zoo's settings where it has some for the world. */
const zooOrElse =
  (preset: string) =>
  (world: string): string =>
    world.startsWith('mountain-car')
      ? 'sb3-zoo-mountain-car'
      : world.startsWith('cartpole')
        ? 'sb3-zoo-cartpole'
        : preset

const pendulumOrElse =
  (preset: string) =>
  (world: string): string =>
    world.startsWith('pendulum') ? 'sb3-zoo-pendulum' : preset

/** The algorithms that can be asked for by name. */
export const arrayAlgorithms: Readonly<Record<string, ArrayAlgorithmEntry>> = {
  ppo: entry({
    about: 'proximal policy optimisation, also recurrent (Schulman et al. 2017)',
    presets: ppoPresets,
    create: ppo,
    defaultPreset: (world) =>
      world === 'cartpole-positions'
        ? 'sb3-zoo-cartpole-positions'
        : world.startsWith('cartpole')
          ? 'sb3-zoo-cartpole'
          : 'cleanrl',
  }),
  a2c: entry({
    about: 'advantage actor-critic (Mnih et al. 2016)',
    presets: a2cPresets,
    create: a2c,
    defaultPreset: () => 'sb3-zoo-cartpole',
  }),
  reinforce: entry({
    about: 'REINFORCE, with or without a baseline (Williams 1992)',
    presets: reinforcePresets,
    create: reinforce,
    defaultPreset: () => 'baseline',
  }),
  sac: entry({
    about: 'soft actor-critic (Haarnoja et al. 2018)',
    presets: sacPresets,
    create: sac,
    defaultPreset: pendulumOrElse('cleanrl'),
    suits: isContinuous,
  }),
  'sac-discrete': entry({
    about: 'soft actor-critic for discrete actions (Christodoulou 2019)',
    presets: discreteSacPresets,
    create: discreteSac,
    defaultPreset: () => 'cleanrl',
    suits: (world) => world.action.type === 'discrete',
  }),
  td3: entry({
    about: 'twin delayed deep deterministic policy gradient (Fujimoto et al. 2018)',
    presets: td3Presets,
    create: td3,
    defaultPreset: pendulumOrElse('cleanrl'),
    suits: isContinuous,
  }),
  ddpg: entry({
    about: 'deep deterministic policy gradient (Lillicrap et al. 2016)',
    presets: ddpgPresets,
    create: ddpg,
    defaultPreset: pendulumOrElse('cleanrl'),
    suits: isContinuous,
  }),
  dqn: entry({
    about: 'deep Q-networks, with double, dueling, prioritised, n-step, noisy (Mnih et al. 2015)',
    presets: dqnPresets,
    create: dqn,
    defaultPreset: zooOrElse('cleanrl'),
    suits: hasChoices,
  }),
  c51: entry({
    about: 'categorical DQN (Bellemare et al. 2017)',
    presets: c51Presets,
    create: c51,
    defaultPreset: () => 'cleanrl',
    suits: hasChoices,
  }),
  'qr-dqn': entry({
    about: 'quantile regression DQN (Dabney et al. 2018)',
    presets: qrDqnPresets,
    create: qrDqn,
    defaultPreset: zooOrElse('sb3-zoo-cartpole'),
    suits: hasChoices,
  }),
  pqn: entry({
    about: 'parallelised Q-network, without replay or target network (Gallici et al. 2024)',
    presets: pqnPresets,
    create: pqn,
    defaultPreset: () => 'cleanrl',
    suits: hasChoices,
  }),
  'openai-es': entry({
    about: 'evolution strategy with antithetic noise and ranks (Salimans et al. 2017)',
    presets: openAiEsPresets,
    create: openAiEs,
    defaultPreset: () => 'linear',
    bonus: false,
  }),
  'cma-es': entry({
    about: 'covariance matrix adaptation (Hansen 2016)',
    presets: cmaEsPresets,
    create: cmaEs,
    defaultPreset: () => 'linear',
    bonus: false,
  }),
  ...tabularAlgorithms,
}
