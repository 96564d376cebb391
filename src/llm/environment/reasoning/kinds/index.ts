import type { ReasoningKind } from '../kind.ts'
import { arithmeticChain, division, fractions, modularPower, multiplication } from './arithmetic.ts'
import { baseConversion, gcdLcm, primeFactors, romanNumerals } from './numbers.ts'
import { booleanValue, implicationChain, syllogism, truthTable } from './logic.ts'
import { brackets, caesar, letterCount, stringProgram } from './text.ts'
import { clock, daysBetween, unitConversion, weekday } from './time-and-units.ts'
import { codeOutput } from './code-output.ts'
import { coinChange, countdown, hanoi, knapsack } from './search.ts'
import { comparison, sequence } from './sequences.ts'
import { countMatching, setOperations, sorting } from './lists.ts'
import { kinshipRelations, ordering, storyProblem, swaps } from './stories.ts'
import { gridWalk, shortestPath, sudoku } from './grids.ts'
import { knightsKnaves, whoOwnsWhat } from './puzzles.ts'
import { linearEquation, linearSystem } from './equations.ts'

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
