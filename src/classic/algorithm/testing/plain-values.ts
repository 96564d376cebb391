/** Of learners of action values in tests: plain DQN, without what its relatives add. */
export const plainValues = {
  learningRate: 5e-3,
  adamEpsilon: 1e-8,
  epsilonStart: 1,
  epsilonEnd: 0.1,
  explorationFraction: 0.5,
  double: false,
  dueling: false,
  noisy: false,
  prioritised: false,
  nSteps: 1,
} as const
