import { dqnPresets } from 'agoge/classic'
import type { Gate } from './gate.ts'

const { loss: _, ...cleanrlReplay } = dqnPresets.cleanrl

/** A random policy has a return of about 20. */
const cartPole = { environment: 'cartpole', direction: 'at-least', range: [20, 500] } as const
/** The best return from a start at the bottom of the valley is about -100. */
const mountainCar = { environment: 'mountain-car', range: [-200, -100] } as const
/** A random policy has a return of about -1200. */
const pendulum = {
  environment: 'pendulum',
  preset: 'sb3-zoo-pendulum',
  steps: 20_000,
  bar: -200,
  range: [-1200, -120],
} as const

/** Robots of MuJoCo. CleanRL's figures are of version 4 of the environments, which rewards the step of a fall too. */
const mujoco = {
  algorithm: 'ppo',
  preset: 'cleanrl-continuous',
  steps: 1_000_000,
  direction: 'at-least',
} as const

/** A game of MinAtar. The bar is the level of the best learner of the figure at this number of frames, read off the picture. */
const minatar = (
  game: string,
  learner: string,
  { bar, range, seeds, reading }: Pick<Gate, 'bar' | 'range' | 'seeds' | 'reading'>,
): Gate => {
  const name = game.toLowerCase().replace(' ', '-')
  return {
    name: `ppo-minatar-${name}-1m`,
    environment: `minatar-${name}`,
    algorithm: 'ppo',
    preset: 'purejaxrl-minatar',
    steps: 1_000_000,
    direction: 'at-least',
    range,
    bar,
    source: `the figure of learning curves in MinAtar's repository, ${game} after 1 million frames (steps): ${learner}, the best of its four learners, means of 30 seeds, read off the picture. The range is that of the figure's 5 million frames`,
    peer: ['ppo', 'purejaxrl-minatar', `MinAtar/${game.replace(' ', '')}-v0`],
    ...(seeds !== undefined && { seeds }),
    ...(reading !== undefined && { reading }),
  }
}

/** PPO with CleanRL's settings for the length of bsuite's DeepSea: 10 000 episodes. */
const deepSea = {
  environment: 'deep-sea-20',
  algorithm: 'ppo',
  preset: 'cleanrl',
  steps: 200_000,
  range: [0, 0.99],
} as const

/**
 * The gates whose ten seeds left open whether they reach their bar, or are not inferior to their peer: 30 seeds, a number that
 * was chosen before any of the seeds from 11 on was run.
 */
const seeds = 30

/** The learning gates, in the order of the table. Settings are the published ones. Seeds are from 1 on. */
export const gates: readonly Gate[] = [
  {
    ...cartPole,
    name: 'ppo-cartpole-100k',
    algorithm: 'ppo',
    preset: 'sb3-zoo-cartpole',
    steps: 100_000,
    bar: 475,
    source: "Gymnasium's reward threshold of CartPole-v1; RL Baselines3 Zoo reports 500 of one run",
    peer: ['ppo', 'sb3-zoo'],
  },
  {
    ...cartPole,
    name: 'ppo-cartpole-500k',
    algorithm: 'ppo',
    preset: 'cleanrl',
    steps: 500_000,
    bar: 480,
    source: 'CleanRL ppo.py, 3 seeds: 490.04 ± 6.12',
    peer: ['ppo', 'cleanrl'],
  },
  {
    ...cartPole,
    name: 'dqn-cartpole-500k',
    seeds,
    algorithm: 'dqn',
    preset: 'cleanrl',
    steps: 500_000,
    bar: 488.69,
    source: 'CleanRL dqn.py, 3 seeds: 488.69 ± 16.11',
  },
  {
    ...cartPole,
    name: 'c51-cartpole-500k',
    algorithm: 'c51',
    preset: 'cleanrl',
    steps: 500_000,
    bar: 481.2,
    source: 'CleanRL c51.py, 3 seeds: 481.20 ± 20.53',
  },
  {
    ...cartPole,
    name: 'qr-dqn-cartpole-500k',
    seeds,
    algorithm: 'qr-dqn',
    preset: 'sb3-zoo-cartpole',
    // CleanRL has no QR-DQN. Uses the settings of its DQN, with Adam's epsilon of SB3-Contrib, 0.01 / batch.
    config: { ...cleanrlReplay, adamEpsilon: 0.01 / cleanrlReplay.batchSize },
    steps: 500_000,
    bar: 488.69,
    source: 'CleanRL has none; the level and the settings of its dqn.py: 488.69 ± 16.11',
    reading:
      '17 of 30 seeds end at 498 or more, and five, between 9 and 189, have lost most of what they had learnt. Nothing was published for these settings, so the bar says what DQN reached',
  },
  {
    ...cartPole,
    name: 'pqn-cartpole-500k',
    seeds,
    algorithm: 'pqn',
    preset: 'cleanrl',
    steps: 500_000,
    bar: 495.13,
    source: 'CleanRL pqn.py, 3 seeds: 495.13 ± 6.89',
    peer: ['pqn'],
  },
  {
    ...cartPole,
    name: 'a2c-cartpole-500k',
    algorithm: 'a2c',
    preset: 'sb3-zoo-cartpole',
    steps: 500_000,
    bar: 500,
    source: 'RL Baselines3 Zoo, one run: 500.0 ± 0.0',
  },
  {
    name: 'ppo-acrobot-500k',
    environment: 'acrobot',
    range: [-500, -60],
    algorithm: 'ppo',
    preset: 'cleanrl',
    steps: 500_000,
    bar: -90,
    direction: 'at-least',
    source: 'CleanRL ppo.py, 3 seeds: -86.36 ± 1.32',
  },
  {
    ...mujoco,
    name: 'ppo-inverted-pendulum-1m',
    environment: 'inverted-pendulum',
    range: [5, 1000],
    bar: 963.09,
    source: 'CleanRL ppo_continuous_action.py, InvertedPendulum-v4, 3 seeds: 963.09 ± 22.20',
    peer: ['ppo_continuous', 'InvertedPendulum-v5'],
  },
  {
    ...mujoco,
    name: 'ppo-hopper-1m',
    environment: 'hopper',
    range: [20, 3500],
    bar: 2382.86,
    source: 'CleanRL ppo_continuous_action.py, Hopper-v4, 3 seeds: 2382.86 ± 271.74',
    peer: ['ppo_continuous', 'Hopper-v5'],
  },
  minatar('Asterix', 'DQN', {
    bar: 7.2,
    range: [0.5, 20],
    reading:
      'far below the best learner of the figure, as the reference is with the same settings: in a million steps they make only 122 updates',
  }),
  minatar('Breakout', 'actor-critic with traces', { bar: 9.9, range: [0.5, 17] }),
  minatar('Freeway', 'DQN', {
    seeds,
    bar: 47.9,
    range: [0, 50],
    reading:
      'far below the best learner of the figure, as the reference is with the same settings: it ends between 22 and 33, and so do 29 of our 30 seeds; one ends at 16',
  }),
  minatar('Seaquest', 'DQN', { bar: 1, range: [0, 20] }),
  minatar('Space Invaders', 'actor-critic with traces', { bar: 51.9, range: [2, 182] }),
  {
    name: 'dqn-mountain-car-120k',
    ...mountainCar,
    algorithm: 'dqn',
    preset: 'sb3-zoo-mountain-car',
    steps: 120_000,
    bar: -120,
    direction: 'at-least',
    source: 'RL Baselines3 Zoo, one run: -100.8',
    peer: ['dqn', 'mountain-car'],
  },
  {
    ...pendulum,
    name: 'sac-pendulum-20k',
    algorithm: 'sac',
    direction: 'at-least',
    source: 'RL Baselines3 Zoo, one run: -156.995 ± 88.7',
    peer: ['sac'],
  },
  {
    ...pendulum,
    name: 'td3-pendulum-20k',
    algorithm: 'td3',
    direction: 'at-least',
    source: 'RL Baselines3 Zoo, one run: -151.855 ± 90.2',
  },
  {
    name: 'ppo-cartpole-positions-100k',
    seeds,
    ...cartPole,
    environment: 'cartpole-positions',
    algorithm: 'ppo',
    preset: 'sb3-zoo-cartpole-positions',
    steps: 100_000,
    bar: 450,
    source: 'RL Baselines3 Zoo, PPO with an LSTM, one run: 500.0',
    reading:
      'the published run has LSTMs where these have GRUs of the same size, all else is as there. With one unit for actor and critic, tanh, orthogonal weights and nothing normalised, as this gate was run before, five of ten seeds reached 495 or more and the mean was 309',
  },
  {
    ...deepSea,
    name: 'deep-sea-20-with-bonus',
    seeds,
    // The only setting chosen here, on seeds 101 to 103: 0.01, 0.03 and 0.1 solved all three, 1 two, 10 none.
    countBonus: 0.03,
    bar: 0.98,
    direction: 'at-least',
    source: 'the best return is 0.99; bsuite: 10 000 episodes',
    reading:
      '25 of 30 seeds play the one way to the reward, five never found it within the 10 000 episodes; without the bonus none does',
  },
  {
    ...deepSea,
    name: 'deep-sea-20-without-bonus',
    bar: 0,
    direction: 'at-most',
    broken: { how: 'a bonus for counts, which finds the reward', change: { countBonus: 0.03 } },
    source: 'a policy that never finds the reward has at most 0 (Osband et al. 2020)',
  },
  {
    name: 'ppo-mountain-car-500k',
    ...mountainCar,
    algorithm: 'ppo',
    preset: 'cleanrl',
    steps: 500_000,
    bar: -199.5,
    direction: 'at-most',
    broken: {
      how: 'DQN in place of PPO, which reaches the goal',
      change: { algorithm: 'dqn', preset: 'sb3-zoo-mountain-car', steps: 120_000 },
    },
    source: 'CleanRL ppo.py, 3 seeds: -200.00 ± 0.00, so -200 after rounding',
  },
]
