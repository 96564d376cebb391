import type { World } from '../environment/index.ts'
import {
  acrobot,
  cartPole,
  cartPolePositions,
  mountainCar,
  mountainCarContinuous,
  pendulum,
} from './classic/index.ts'

/** The worlds over arrays of numbers, by the name that the command line takes. */
export const arrayWorlds: Readonly<Record<string, World>> = {
  [cartPole.name]: cartPole,
  [cartPolePositions.name]: cartPolePositions,
  [acrobot.name]: acrobot,
  [mountainCar.name]: mountainCar,
  [mountainCarContinuous.name]: mountainCarContinuous,
  [pendulum.name]: pendulum,
}
