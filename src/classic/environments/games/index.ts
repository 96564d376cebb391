export { climbing, penaltyGame, prisonersDilemma } from './matrix-games.ts'
export { createMatrixGame } from './matrix-game.ts'
export { ticTacToe } from './tic-tac-toe.ts'
export { twoStepGame } from './two-step-game.ts'
