import type { ReasoningKind } from '../kind.ts'
import { arithmeticChain, division, fractions, modularPower, multiplication } from './arithmetic.ts'
import { baseConversion, gcdLcm, primeFactors, romanNumerals } from './numbers.ts'
import { booleanValue, truthTable } from './formulas.ts'
import { brackets, caesar, letterCount, stringProgram } from './text.ts'
import { clock, daysBetween, unitConversion, weekday } from './time-and-units.ts'
import { codeOutput } from './code-output.ts'
import { coinChange, knapsack } from './choices.ts'
import { comparison, sequence } from './sequences.ts'
import { countMatching, setOperations, sorting } from './lists.ts'
import { countdown } from './countdown.ts'
import { kinshipRelations, ordering, storyProblem, swaps } from './stories.ts'
import { gridWalk, shortestPath } from './grids.ts'
import { hanoi } from './hanoi.ts'
import { implicationChain, syllogism } from './deduction.ts'
import { knightsKnaves, whoOwnsWhat } from './puzzles.ts'
import { linearEquation, linearSystem } from './equations.ts'
import { sudoku } from './sudoku.ts'

/** All kinds, by subject: numbers, equations, lists, text, logic, stories, time, space and choice. */
export const reasoningKinds: readonly ReasoningKind[] = [
  countdown,
  arithmeticChain,
  multiplication,
  division,
  fractions,
  modularPower,
  gcdLcm,
  primeFactors,
  baseConversion,
  romanNumerals,
  linearEquation,
  linearSystem,
  sequence,
  comparison,
  sorting,
  letterCount,
  countMatching,
  setOperations,
  stringProgram,
  caesar,
  brackets,
  codeOutput,
  booleanValue,
  truthTable,
  syllogism,
  implicationChain,
  knightsKnaves,
  whoOwnsWhat,
  ordering,
  kinshipRelations,
  swaps,
  storyProblem,
  unitConversion,
  weekday,
  daysBetween,
  clock,
  gridWalk,
  shortestPath,
  hanoi,
  sudoku,
  knapsack,
  coinChange,
]
