/** Classic RL: Gymnasium-style environments, policies, algorithms and their training. */
export { a2c, a2cPresets } from './algorithm/on-policy/a2c.ts'
export type { A2cConfig } from './algorithm/on-policy/a2c.ts'
export type {
  ClassicAgent,
  ClassicAlgorithm,
  UpdateMetrics,
  ClassicAlgorithmEntry,
  Preset,
} from './algorithm/agent.ts'
export { c51, c51Presets } from './algorithm/action-values/c51.ts'
export type { C51Config } from './algorithm/action-values/c51.ts'
export { entry } from './algorithm/agent.ts'
export { ddpg, ddpgPresets, td3, td3Presets } from './algorithm/actor-critic/td3.ts'
export type { DdpgConfig, Td3Config } from './algorithm/actor-critic/td3.ts'
export { dqn, dqnPresets } from './algorithm/action-values/dqn.ts'
export type { DqnConfig } from './algorithm/action-values/dqn.ts'
export { cmaEs, cmaEsPresets, openAiEs, openAiEsPresets } from './algorithm/evolution/evolution.ts'
export type { CmaEsConfig, OpenAiEsConfig } from './algorithm/evolution/evolution.ts'
export type { ExplorationBonus, MakeBonus } from './algorithm/exploration/bonus.ts'
export { explorationBonuses } from './algorithm/exploration/index.ts'
export type { BonusEntry } from './algorithm/exploration/index.ts'
export { counts } from './algorithm/exploration/counts.ts'
export type { CountOptions } from './algorithm/exploration/counts.ts'
export { icm } from './algorithm/exploration/icm.ts'
export type { IcmOptions } from './algorithm/exploration/icm.ts'
export { rnd } from './algorithm/exploration/rnd.ts'
export type { RndOptions } from './algorithm/exploration/rnd.ts'
export { withBonus } from './algorithm/exploration/bonus.ts'
export { classicAlgorithms } from './algorithms.ts'
export type { KlPenalty } from './algorithm/on-policy/ppo-update.ts'
export { ppo, ppoPresets } from './algorithm/on-policy/ppo.ts'
export type { PpoConfig } from './algorithm/on-policy/ppo.ts'
export { pqn, pqnPresets } from './algorithm/on-policy/pqn.ts'
export type { PqnConfig } from './algorithm/on-policy/pqn.ts'
export { qrDqn, qrDqnPresets } from './algorithm/action-values/qr-dqn.ts'
export type { QrDqnConfig } from './algorithm/action-values/qr-dqn.ts'
export type { CarriedGruEncoder } from './algorithm/on-policy/recurrent-ppo.ts'
export { reinforce, reinforcePresets } from './algorithm/on-policy/reinforce.ts'
export type { ReinforceConfig } from './algorithm/on-policy/reinforce.ts'
export { discreteSac, discreteSacPresets } from './algorithm/actor-critic/sac-discrete.ts'
export type { DiscreteSacConfig } from './algorithm/actor-critic/sac-discrete.ts'
export { sac, sacPresets } from './algorithm/actor-critic/sac.ts'
export type { SacConfig } from './algorithm/actor-critic/sac.ts'
export {
  exp3,
  decayingGreedy,
  exploreFirst,
  linUcb,
  betaDraw,
  thompson,
  ucb1,
  playBandit,
  armAverages,
  bestArm,
} from './bandit/strategies.ts'
export type { BanditPlay, ArmAverages, BanditStrategy } from './bandit/strategies.ts'
export { choiceCounts, forbiddenChoice, sampleMaskOf } from './environment/action-masks.ts'
export type {
  AnyVector,
  Autoreset,
  VectorEnvironment,
  VectorOptions,
  VectorState,
} from './environment/vector.ts'
export { asyncVectorFrom } from './environment/async-vector-from.ts'
export type { AsyncVectorEnvironment, AsyncVectorOptions } from './environment/async-vector-from.ts'
export { checkEnvironment, requireDefinition, findFaults } from './environment/check/check-environment.ts'
export type { CheckEnvironmentOptions } from './environment/check/check-environment.ts'
export type { Finding } from './environment/check/finding.ts'
export {
  contextSampler,
  contextSetsOf,
  fixedContexts,
  contextRow,
  contextColumns,
  readContext,
  writeContext,
} from './environment/context.ts'
export type {
  ContextFor,
  ContextSamplerOptions,
  ContextSet,
  Context,
  ContextColumns,
  ContextFeature,
  ContextSpace,
} from './environment/context.ts'
export { createEnvironment } from './environment/environment.ts'
export type {
  EnvironmentOptions,
  DefinedEnvironment,
  AsyncEnvironment,
  CallOptions,
  Environment,
  Info,
  ResetOptions,
  ResetResult,
  StepResult,
} from './environment/environment.ts'
export { finiteModel, outcomesOf, sampleCategorical, finiteEnvironment } from './environment/finite-model.ts'
export type { FiniteModel, TransitionOutcome, FiniteDefinition } from './environment/finite-model.ts'
export {
  independentAgents,
  createMultiAgentVector,
  defineMultiAgentEnvironment,
} from './environment/multi-agent.ts'
export type { AgentArrays, MultiAgentDefinition, MultiAgentVector } from './environment/multi-agent.ts'
export { numpyEnvStream, numpyStream, fastStream } from './environment/environment-random.ts'
export type { NumpyStream, EnvironmentStream } from './environment/environment-random.ts'
export type { ObjectVectorOptions } from './environment/object-envs.ts'
export { isEnvironmentDefinition, openVector } from './environment/open-vector.ts'
export type { AnyEnvironment, EnvironmentFactory, OpenedVector, Playable } from './environment/open-vector.ts'
export { animatePng, renderPng } from './environment/render/png.ts'
export type { PngOptions } from './environment/render/png.ts'
export { rasterise } from './environment/render/rasterise.ts'
export type { Image } from './environment/render/rasterise.ts'
export { drawEnv, renderText, renderTerminal } from './environment/render/render.ts'
export type { Rendered, TerminalOptions } from './environment/render/render.ts'
export { animateSvg, renderSvg } from './environment/render/svg.ts'
export type { SvgOptions } from './environment/render/svg.ts'
export { createVectorEnvironment } from './environment/vector.ts'
export {
  dict,
  sequence,
  text,
  tuple,
  describeSpace,
  box,
  discrete,
  multiBinary,
  multiDiscrete,
  rowSize,
  contains,
  explainMismatch,
} from './environment/space.ts'
export { flatSize, flatSpace, flatten, unflatten, readRow, writeRow } from './environment/space-values.ts'
export type { NumberArray } from './environment/space-values.ts'
export { sampleSpace, seededSampler } from './environment/space-sample.ts'
export type { SampleMask, SampleRandom } from './environment/space-sample.ts'
export type {
  ArraySpace,
  BoxSpace,
  DictSpace,
  DiscreteSpace,
  Member,
  MultiBinarySpace,
  MultiDiscreteSpace,
  SequenceSpace,
  Space,
  TextSpace,
  TupleSpace,
} from './environment/space.ts'
export { vectorFrom } from './environment/vector-from.ts'
export type { ObjectVector } from './environment/vector-from.ts'
export { visibleContext } from './environment/visible-context.ts'
export { defineEnvironment } from './environment/definition.ts'
export type {
  Drawing,
  DrawnShape,
  EnvArrays,
  BatchedDefinition,
  EnvironmentDefinition,
  EnvironmentRandom,
  EnvironmentSource,
} from './environment/definition.ts'
export {
  frameStack,
  clipActions,
  clipObservations,
  clipRewards,
  rescaleActions,
  transformActions,
  transformObservations,
  transformRewards,
} from './environment/wrappers/transform.ts'
export {
  normaliseObservations,
  normaliseRewards,
  createRunningMeanStd,
} from './environment/wrappers/normalise.ts'
export { recordEpisodes, startAt, timeLimit } from './environment/wrappers/episodes.ts'
export type { ArrayEpisode } from './environment/wrappers/episodes.ts'
export type { RunningMeanStd } from './environment/wrappers/normalise.ts'
export type { WriteRow } from './environment/wrappers/wrap-vector.ts'
export { classicEnvironments, multiAgentEnvironments } from './environments/catalogue.ts'
export {
  adversarialBandit,
  createAdversarialBandit,
  bestArmMean,
  expectedRegret,
  bernoulliBandit,
  createBernoulliBandit,
  createGaussianBandit,
  gaussianBandit,
  createLinearBandit,
  linearBandit,
} from './environments/bandit/bandits.ts'
export type {
  AdversarialBanditOptions,
  ArmedBanditOptions,
  BanditDefinition,
  LinearBanditOptions,
} from './environments/bandit/bandits.ts'
export { acrobot } from './environments/control/acrobot.ts'
export { cartPolePositions, cartPole } from './environments/control/cart-pole.ts'
export { mountainCarContinuous, mountainCar } from './environments/control/mountain-car.ts'
export { pendulum } from './environments/control/pendulum.ts'
export { memoryDiagnostic } from './environments/diagnostic/diagnostics.ts'
export type { Diagnostic, DiagnosticKind } from './environments/diagnostic/diagnostics.ts'
export {
  climbing,
  createMatrixGame,
  penaltyGame,
  prisonersDilemma,
} from './environments/games/matrix-games.ts'
export { rendezvous } from './environments/games/rendezvous.ts'
export { chain } from './environments/grid/chain.ts'
export { combinationLock, lockDigit } from './environments/grid/combination-lock.ts'
export {
  darkKeyDoor,
  createDarkRoom,
  darkRoom,
  darkRoom3,
  darkRoom5,
} from './environments/grid/dark-rooms.ts'
export { createDeepSea, deepSea, deepSea20, deepSeaRight } from './environments/grid/deep-sea.ts'
export { fourRooms } from './environments/grid/four-rooms.ts'
export { keyDoor } from './environments/grid/key-door.ts'
export {
  cellIndex,
  fillBoard,
  fillCells,
  nthCell,
  placeAgent,
  cells,
  drawAt,
  layoutFeature,
  wholeFeature,
  directionX,
  directionY,
  directions,
  moveAgent,
  slipFeature,
  withSlip,
} from './environments/grid/shared/board.ts'
export type { Board } from './environments/grid/shared/board.ts'
export { facingView, cellView, fullView, windowView } from './environments/grid/shared/views.ts'
export { boardDrawing, boardText } from './environments/grid/shared/frames.ts'
export type { View } from './environments/grid/shared/views.ts'
export { maze, mazeWindow } from './environments/grid/maze.ts'
export { multiRoom } from './environments/grid/multi-room.ts'
export { asterix } from './environments/minatar/asterix.ts'
export { breakout } from './environments/minatar/breakout.ts'
export { freeway } from './environments/minatar/freeway.ts'
export { seaquest } from './environments/minatar/seaquest.ts'
export { spaceInvaders } from './environments/minatar/space-invaders.ts'
export { shortestPlan } from './environments/grid/shared/exact.ts'
export { pointMass } from './environments/motion/point-mass.ts'
export { reacher } from './environments/motion/reacher.ts'
export { hopper } from './environments/mujoco/hopper.ts'
export { invertedPendulum } from './environments/mujoco/inverted-pendulum.ts'
export { loadMujoco } from './environments/mujoco/physics.ts'
export type { MujocoModule } from './environments/mujoco/physics.ts'
export { blackjack } from './environments/toy-text/blackjack.ts'
export { cliffWalking, cliffWalkingSlippery } from './environments/toy-text/cliff-walking.ts'
export {
  generateLake,
  largeLake,
  readLake,
  smallLake,
  frozenLake,
  frozenLake8x8,
  frozenLakeGenerated,
  frozenLakeOf,
  generatedFrozenLake,
} from './environments/toy-text/frozen-lake.ts'
export type { LakeMap } from './environments/toy-text/frozen-lake.ts'
export { taxi } from './environments/toy-text/taxi.ts'
export { clipActionRows } from './policy/bounded-actions.ts'
export { gruLayer } from './policy/gru.ts'
export { hyperNetwork } from './policy/hypernetwork.ts'
export { mlpNetwork } from './policy/mlp.ts'
export type { Network } from './policy/mlp.ts'
export { createReplay } from './replay/replay.ts'
export type { Replay, ReplayBatch, ReplayOptions, ReplaySource } from './replay/replay.ts'
export type { TabularConfig } from './tabular/control.ts'
export { effectiveHorizon } from './tabular/effective-horizon.ts'
export type { EffectiveHorizon } from './tabular/effective-horizon.ts'
export {
  nStepSarsa,
  doubleQLearning,
  qLearning,
  expectedSarsa,
  sarsa,
  qLambda,
  sarsaLambda,
} from './tabular/temporal-difference.ts'
export {
  evaluatePolicy,
  policyIteration,
  softValueIteration,
  finiteHorizon,
  valueIteration,
  actionValue,
  startValue,
} from './tabular/dynamic-programming.ts'
export type {
  SoftSolution,
  SoftValueIterationOptions,
  Solution,
  ValueIterationOptions,
} from './tabular/dynamic-programming.ts'
export type { TracesConfig } from './tabular/temporal-difference.ts'
export type { BonusSettings, FoundRun, TrainNamedOptions } from './training/find-run.ts'
export { checkContexts } from './training/context-settings.ts'
export type { ContextSettings, EvaluationContexts, EvaluationSet } from './training/context-settings.ts'
export { evaluateAgent } from './training/evaluate-agent.ts'
export type { EvaluateAgentOptions, Played } from './training/evaluate-agent.ts'
export { findRun, findEnvironment } from './training/find-run.ts'
export { learnUntil } from './training/learn-until.ts'
export type { LearnUntilOptions } from './training/learn-until.ts'
export { loadAgent } from './training/load-agent.ts'
export type { LoadedAgent } from './training/load-agent.ts'
export type {
  NamedRun,
  SeedsSummary,
  TrainSeedsOptions,
  ClassicResult,
  ClassicSummary,
  ClassicTrainOptions,
  Evaluation,
  EvaluationSettings,
  SetEvaluation,
} from './training/types.ts'
export { trainClassic } from './training/train-classic.ts'
export { trainSeeds } from './training/train-seeds.ts'
export type { EnvironmentFile } from './training/environment-file.ts'
