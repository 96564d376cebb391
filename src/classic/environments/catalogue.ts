import { type EnvironmentDefinition, independentAgents } from '../environment/index.ts'
import { adversarialBandit, bernoulliBandit, gaussianBandit, linearBandit } from './bandit/bandits.ts'
import { acrobot } from './control/acrobot.ts'
import { cartPole, cartPolePositions } from './control/cart-pole.ts'
import { mountainCarContinuous, mountainCar } from './control/mountain-car.ts'
import { pendulum } from './control/pendulum.ts'
import { climbing, penaltyGame, prisonersDilemma } from './games/matrix-games.ts'
import { rendezvous } from './games/rendezvous.ts'
import { chain } from './grid/chain.ts'
import { combinationLock } from './grid/combination-lock.ts'
import { darkKeyDoor, darkRoom, darkRoom3, darkRoom5 } from './grid/dark-rooms.ts'
import { deepSea, deepSea20 } from './grid/deep-sea.ts'
import { fourRooms } from './grid/four-rooms.ts'
import { keyDoor } from './grid/key-door.ts'
import { maze, mazeWindow } from './grid/maze.ts'
import { multiRoom } from './grid/multi-room.ts'
import { asterix } from './minatar/asterix.ts'
import { breakout } from './minatar/breakout.ts'
import { freeway } from './minatar/freeway.ts'
import { seaquest } from './minatar/seaquest.ts'
import { spaceInvaders } from './minatar/space-invaders.ts'
import { pointMass } from './motion/point-mass.ts'
import { reacher } from './motion/reacher.ts'
import { hopper } from './mujoco/hopper.ts'
import { invertedPendulum } from './mujoco/inverted-pendulum.ts'
import { blackjack } from './toy-text/blackjack.ts'
import { cliffWalking, cliffWalkingSlippery } from './toy-text/cliff-walking.ts'
import { frozenLake, frozenLake8x8, frozenLakeGenerated } from './toy-text/frozen-lake.ts'
import { taxi } from './toy-text/taxi.ts'

/** In the order of `agoge envs`. A test fails if a definition of this folder is missing here. */
const all: readonly EnvironmentDefinition[] = [
  cartPole,
  cartPolePositions,
  acrobot,
  mountainCar,
  mountainCarContinuous,
  pendulum,
  pointMass,
  reacher,
  invertedPendulum,
  hopper,
  frozenLake,
  frozenLake8x8,
  frozenLakeGenerated,
  taxi,
  cliffWalking,
  cliffWalkingSlippery,
  blackjack,
  fourRooms,
  darkRoom,
  darkRoom5,
  darkRoom3,
  darkKeyDoor,
  keyDoor,
  multiRoom,
  maze,
  mazeWindow,
  deepSea,
  deepSea20,
  chain,
  combinationLock,
  asterix,
  breakout,
  freeway,
  seaquest,
  spaceInvaders,
  bernoulliBandit,
  gaussianBandit,
  linearBandit,
  adversarialBandit,
]

/**
 * The classic environments by the name that the command line takes.
 *
 * @example
 * const vector = createVectorEnvironment(classicEnvironments['cartpole'], { numEnvs: 8 })
 */
export const classicEnvironments: Readonly<Record<string, EnvironmentDefinition>> = Object.fromEntries(
  all.map((definition) => [definition.name, definition]),
)

/**
 * The environments of several agents, by the name that the command line takes. The agents learn independently, with
 * shared parameters: see `independentAgents`.
 */
export const multiAgentEnvironments: Readonly<Record<string, EnvironmentDefinition>> = Object.fromEntries(
  [prisonersDilemma, climbing, penaltyGame, rendezvous].map((definition) => [
    definition.name,
    independentAgents(definition),
  ]),
)

/** All of them. */
export const namedEnvironments: Readonly<Record<string, EnvironmentDefinition>> = {
  ...classicEnvironments,
  ...multiAgentEnvironments,
}
