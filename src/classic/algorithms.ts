import type { EnvironmentDefinition } from './environment/index.ts'
import { tabularAlgorithms } from './tabular/temporal-difference.ts'
import { a2c, a2cPresets } from './algorithm/on-policy/a2c.ts'
import { type ClassicAlgorithmEntry, entry } from './algorithm/agent.ts'
import { c51, c51Presets } from './algorithm/action-values/c51.ts'
import { ddpg, ddpgPresets, td3, td3Presets } from './algorithm/actor-critic/td3.ts'
import { dqn, dqnPresets } from './algorithm/action-values/dqn.ts'
import { cmaEs, cmaEsPresets, openAiEs, openAiEsPresets } from './algorithm/evolution/evolution.ts'
import { ppo, ppoPresets } from './algorithm/on-policy/ppo.ts'
import { pqn, pqnPresets } from './algorithm/on-policy/pqn.ts'
import { qrDqn, qrDqnPresets } from './algorithm/action-values/qr-dqn.ts'
import { reinforce, reinforcePresets } from './algorithm/on-policy/reinforce.ts'
import { discreteSac, discreteSacPresets } from './algorithm/actor-critic/sac-discrete.ts'
import { sac, sacPresets } from './algorithm/actor-critic/sac.ts'

const isContinuous = ({ action }: EnvironmentDefinition): boolean =>
  action.type === 'box' && action.low.every(Number.isFinite) && action.high.every(Number.isFinite)

const hasChoices = ({ action }: EnvironmentDefinition): boolean => action.type === 'discrete'

/** Evolution gives every row a policy of its own, and agents of one episode share theirs. */
const hasOneAgent = ({ agentNames }: EnvironmentDefinition): boolean => agentNames === undefined

/** The preset of RL Baselines3 Zoo where it has settings for the environment. */
const zooOrElse =
  (preset: string) =>
  (environment: string): string =>
    environment.startsWith('mountain-car')
      ? 'sb3-zoo-mountain-car'
      : environment.startsWith('cartpole')
        ? 'sb3-zoo-cartpole'
        : preset

const pendulumOrElse =
  (preset: string) =>
  (environment: string): string =>
    environment.startsWith('pendulum') ? 'sb3-zoo-pendulum' : preset

function ppoPresetOf(environment: string): keyof typeof ppoPresets {
  if (environment === 'cartpole-positions') return 'sb3-zoo-cartpole-positions'
  if (environment.startsWith('cartpole')) return 'sb3-zoo-cartpole'
  if (environment.startsWith('minatar-')) return 'purejaxrl-minatar'
  return ['inverted-pendulum', 'hopper'].includes(environment) ? 'cleanrl-continuous' : 'cleanrl'
}

/** The algorithms by name: deep, evolutionary and tabular ones. */
export const classicAlgorithms: Readonly<Record<string, ClassicAlgorithmEntry>> = {
  ppo: entry({
    about: 'proximal policy optimisation, also recurrent (Schulman et al. 2017)',
    presets: ppoPresets,
    create: ppo,
    batched: true,
    defaultPreset: ppoPresetOf,
  }),
  a2c: entry({
    about: 'advantage actor-critic (Mnih et al. 2016)',
    presets: a2cPresets,
    create: a2c,
    batched: true,
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
    suits: (definition) => definition.action.type === 'discrete',
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
    batched: true,
    defaultPreset: () => 'cleanrl',
    suits: hasChoices,
  }),
  'openai-es': entry({
    about: 'evolution strategy with antithetic noise and ranks (Salimans et al. 2017)',
    presets: openAiEsPresets,
    create: openAiEs,
    defaultPreset: () => 'linear',
    suits: hasOneAgent,
    bonus: false,
  }),
  'cma-es': entry({
    about: 'covariance matrix adaptation (Hansen 2016)',
    presets: cmaEsPresets,
    create: cmaEs,
    defaultPreset: () => 'linear',
    suits: hasOneAgent,
    bonus: false,
  }),
  ...tabularAlgorithms,
}
