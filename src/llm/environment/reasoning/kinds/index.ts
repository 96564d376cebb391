import type { ReasoningKind } from '../kind.ts'
import { arithmeticChain } from './arithmetic-chain.ts'
import { baseConversion } from './base-conversion.ts'
import { booleanValue } from './boolean-value.ts'
import { brackets } from './brackets.ts'
import { caesar } from './caesar.ts'
import { clock } from './clock.ts'
import { codeOutput } from './code-output.ts'
import { coinChange } from './coin-change.ts'
import { comparison } from './comparison.ts'
import { countMatching } from './count-matching.ts'
import { countdown } from './countdown.ts'
import { daysBetween } from './days-between.ts'
import { division } from './division.ts'
import { kinshipRelations } from './family-relations.ts'
import { fractions } from './fractions.ts'
import { gcdLcm } from './gcd-lcm.ts'
import { gridWalk } from './grid-walk.ts'
import { hanoi } from './hanoi.ts'
import { implicationChain } from './implication-chain.ts'
import { knapsack } from './knapsack.ts'
import { knightsKnaves } from './knights-knaves.ts'
import { letterCount } from './letter-count.ts'
import { linearEquation } from './linear-equation.ts'
import { linearSystem } from './linear-system.ts'
import { modularPower } from './modular-power.ts'
import { multiplication } from './multiplication.ts'
import { ordering } from './ordering.ts'
import { primeFactors } from './prime-factors.ts'
import { romanNumerals } from './roman-numerals.ts'
import { sequence } from './sequence.ts'
import { setOperations } from './set-operations.ts'
import { shortestPath } from './shortest-path.ts'
import { sorting } from './sorting.ts'
import { storyProblem } from './story-problem.ts'
import { stringProgram } from './string-program.ts'
import { sudoku } from './sudoku.ts'
import { swaps } from './swaps.ts'
import { syllogism } from './syllogism.ts'
import { truthTable } from './truth-table.ts'
import { unitConversion } from './unit-conversion.ts'
import { weekday } from './weekday.ts'
import { whoOwnsWhat } from './who-owns-what.ts'

/** All families, by subject: numbers, equations, lists, text, logic, stories, time, space and choice. */
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
