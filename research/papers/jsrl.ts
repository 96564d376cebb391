import {
  createVectorEnvironment,
  fastStream,
  startAt,
  qLearning,
  learnUntil,
  combinationLock,
  lockDigit,
} from 'agoge/classic'
import type { EnvArrays, VectorEnvironment, TabularConfig } from 'agoge/classic'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'

const length = 8
const guideErrs = 0.2
const table = { stepSize: 1, gamma: 0.9 }

/** Switches to the learner after `horizon` steps of the guide; one fewer each time that the pair succeeds often enough. */
function guided(code: number, seed: number) {
  const random = fastStream('guide', seed)
  const jump = { horizon: length - 1, steps: 0, episodes: 0, successes: 0 }
  function place(envs: EnvArrays, envIndex: number, { terminated }: VectorEnvironment): void {
    jump.episodes++
    jump.successes += terminated[envIndex]
    if (jump.episodes >= 50) {
      if (jump.successes >= 10) jump.horizon = Math.max(0, jump.horizon - 1)
      jump.episodes = 0
      jump.successes = 0
    }
    for (let k = 0; k < jump.horizon; k++, jump.steps++) {
      const errs = random.random() < guideErrs
      envs.actions[envIndex] = errs ? random.integers(4) : lockDigit(code, envs.state[envIndex])
      combinationLock.step(envs, envIndex, random)
      if (envs.terminated[envIndex] === 1) combinationLock.reset(envs, envIndex, random)
    }
  }
  return { jump, place }
}

async function stepsToOpen(
  { seed, budget }: ArmRun,
  config: TabularConfig,
  withGuide = false,
): Promise<ArmResult> {
  const code = seed
  const contextFor = () => ({ code, length })
  const plain = createVectorEnvironment(combinationLock, {
    numEnvs: 1,
    seed,
    contextFor,
    maxSteps: 4 * length,
  })
  const { jump, place } = guided(code, seed)
  const environment = withGuide ? startAt(plain, place) : plain
  environment.reset()
  const agent = await qLearning(config)(environment, { seed, totalSteps: budget.steps })
  const positions = Float32Array.from({ length }, (_, k) => k)
  const actions = new Float32Array(length)
  let [taken, reached] = [budget.steps, false]
  const until = (step: number): boolean => {
    agent.predict(positions, length, actions)
    const opens = actions.every((action, k) => action === lockDigit(code, k))
    if (opens) [taken, reached] = [Math.min(budget.steps, step + jump.steps), true]
    return opens || step + jump.steps >= budget.steps
  }
  await learnUntil(environment, agent, { steps: budget.steps, every: 100, until })
  // The guide acts in a share of the steps, and hands over when its horizon falls.
  const measures = { guided: jump.steps / taken, horizon: withGuide ? jump.horizon : 0 }
  return { score: taken, reached, measures }
}

export default definePaper({
  id: 'jsrl',
  title: 'Jump-Start Reinforcement Learning',
  theme: 'curriculum-autorl',
  claim:
    'A guide that begins each episode, for fewer steps the better the learner gets, saves the learner the exploration that takes exponentially long from scratch.',
  arms: {
    'jump-start': (run) =>
      stepsToOpen(run, { ...table, epsilonStart: 0.2, epsilonEnd: 0.2, explorationFraction: 0 }, true),
    // From scratch, random exploration finds the end first.
    'from-scratch': (run) =>
      stepsToOpen(run, { ...table, epsilonStart: 1, epsilonEnd: 0.1, explorationFraction: 1 }),
    optimistic: (run) =>
      stepsToOpen(run, { ...table, initialValue: 1, epsilonStart: 0, epsilonEnd: 0, explorationFraction: 0 }),
  },
  metric: 'steps, those of the guide included, until the greedy policy opens a combination lock of 8 digits',
  higherIsBetter: false,
  pairing: 'seed',
  effect: { better: 'jump-start', than: ['from-scratch', 'optimistic'], atLeast: 3, scale: 'ratio' },
  checks: [
    {
      about: 'the guide takes part of the steps',
      arm: 'jump-start',
      of: 'guided',
      atLeast: 0.1,
      atMost: 0.9,
    },
    { about: 'the guide hands over (it begins with 7 steps)', arm: 'jump-start', of: 'horizon', atMost: 5 },
    { about: 'no guide', arm: ['from-scratch', 'optimistic'], of: 'guided', atMost: 0 },
  ],
  control: { positive: { better: 'optimistic', than: 'from-scratch', atLeast: 5 }, same: 'optimistic' },
  budget: { steps: 400_000 },
  quick: { steps: 2000 },
  simplifications: [
    'a guide that knows the combination and errs in a fifth of its steps stands for a trained policy',
  ],
})
