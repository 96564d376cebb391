export { exp3, decayingGreedy, exploreFirst, linUcb, betaDraw, thompson, ucb1 } from './strategies.ts'
export { playBandit, armAverages, bestArm } from './play-bandit.ts'
export type { BanditPlay, ArmAverages, BanditStrategy } from './play-bandit.ts'
