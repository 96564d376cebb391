import type { World } from '../environment/index.ts'
import { adversarialBandit, bernoulliBandit, gaussianBandit, linearBandit } from './bandit/index.ts'
import {
  acrobot,
  cartPole,
  cartPolePositions,
  mountainCar,
  mountainCarContinuous,
  pendulum,
} from './classic/index.ts'
import {
  chain,
  combinationLock,
  darkKeyDoor,
  darkRoom,
  darkRoom3,
  darkRoom5,
  deepSea,
  deepSea20,
  fourRooms,
  keyDoor,
  maze,
  mazeWindow,
  multiRoom,
} from './grid/index.ts'

/** The worlds over arrays of numbers, by the name that the command line takes. */
export const arrayWorlds: Readonly<Record<string, World>> = {
  [cartPole.name]: cartPole,
  [cartPolePositions.name]: cartPolePositions,
  [acrobot.name]: acrobot,
  [mountainCar.name]: mountainCar,
  [mountainCarContinuous.name]: mountainCarContinuous,
  [pendulum.name]: pendulum,
  [fourRooms.name]: fourRooms,
  [darkRoom.name]: darkRoom,
  [darkRoom5.name]: darkRoom5,
  [darkRoom3.name]: darkRoom3,
  [darkKeyDoor.name]: darkKeyDoor,
  [keyDoor.name]: keyDoor,
  [multiRoom.name]: multiRoom,
  [maze.name]: maze,
  [mazeWindow.name]: mazeWindow,
  [deepSea.name]: deepSea,
  [deepSea20.name]: deepSea20,
  [chain.name]: chain,
  [combinationLock.name]: combinationLock,
  [bernoulliBandit.name]: bernoulliBandit,
  [gaussianBandit.name]: gaussianBandit,
  [linearBandit.name]: linearBandit,
  [adversarialBandit.name]: adversarialBandit,
}
