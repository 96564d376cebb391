import { createVectorEnvironment, learnUntil, outcomesOf, qLearning, taxi } from 'agoge/classic'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'
import { declaredValues, ground } from '../testbeds/declarations/declarations.ts'

const rewardsOfTaxi = `
  factor row 5
  factor column 5
  factor passenger 5
  factor destination 4
  actions south north east west pickup dropoff
  define atStop := (passenger = 0 and row + column = 0) or (passenger = 1 and row = 0 and column = 4) or (passenger = 2 and row = 4 and column = 0) or (passenger = 3 and row = 4 and column = 3)
  define arrived := passenger = 4 and ((destination = 0 and row + column = 0) or (destination = 1 and row = 0 and column = 4) or (destination = 2 and row = 4 and column = 0) or (destination = 3 and row = 4 and column = 3))
  reward 1 then 0 - 1
  reward pickup and not atStop then 0 - 10
  reward dropoff and not arrived then 0 - 10
  reward dropoff and arrived then 20
  end dropoff and arrived`
/** The walls of the map are not in the program. */
const moves = `
  effect south and row < 4 then row := row + 1
  effect north and 0 < row then row := row - 1
  effect east and column < 4 then column := column + 1
  effect west and 0 < column then column := column - 1
  effect pickup and atStop then passenger := 4`
/** The same with north and south exchanged. */
const wrongMoves = moves
  .replace('effect south and row < 4', 'effect north and row < 4')
  .replace('effect north and 0 < row', 'effect south and 0 < row')
const gamma = 0.95

/** Share of pairs whose next state the program declares, and of these the share that it has wrong. */
function coverage(program: string) {
  const declared = [...ground(program).next].flatMap((next, pair) => (next < 0 ? [] : [{ next, pair }]))
  const model = taxi.transitions()
  const wrong = declared.filter(
    ({ next, pair }) => outcomesOf(model, Math.floor(pair / 6), pair % 6)[0].state !== next,
  )
  return { declared: declared.length / 3000, wrong: wrong.length / Math.max(1, declared.length) }
}

/** Mean reward of a step of Q-learning that begins with the values of a program. */
async function learn({ seed, budget }: ArmRun, program: string, epsilon = 0): Promise<ArmResult> {
  const environment = createVectorEnvironment(taxi, { numEnvs: 1, seed })
  environment.reset()
  const config = {
    stepSize: 1,
    gamma,
    epsilonStart: epsilon,
    epsilonEnd: epsilon,
    explorationFraction: 0,
  }
  const agent = await qLearning(config)(environment, { seed, totalSteps: budget.steps })
  const state = agent.state() as { q: Float64Array }
  if (program !== '') agent.restore({ ...state, q: declaredValues(program, gamma) })
  let total = 0
  const counting = {
    ...agent,
    learn: () => {
      total += environment.rewards[0]
      return agent.learn()
    },
  }
  await learnUntil(environment, counting, { steps: budget.steps })
  return {
    score: total / budget.steps,
    measures: program === '' ? { declared: 0, wrong: 0 } : coverage(program),
  }
}

export default definePaper({
  id: 'rlang',
  title:
    'RLang: A Declarative Language for Describing Partial World Knowledge to Reinforcement Learning Agents',
  theme: 'control',
  claim:
    'A program that declares rewards and part of the transitions lets a learner earn more than without it, than with the rewards alone, and than with wrong transitions.',
  arms: {
    program: (run) => learn(run, rewardsOfTaxi + moves),
    'rewards-alone': (run) => learn(run, rewardsOfTaxi),
    'north-and-south-exchanged': (run) => learn(run, rewardsOfTaxi + wrongMoves),
    'no-program': (run) => learn(run, ''),
    random: (run) => learn(run, '', 1),
  },
  metric: 'mean reward of a step while Q-learning learns Taxi',
  pairing: 'seed',
  effect: {
    better: 'program',
    than: ['rewards-alone', 'north-and-south-exchanged', 'no-program'],
    atLeast: 0.05,
  },
  checks: [
    {
      about: 'the program says where half of the actions lead',
      arm: 'program',
      of: 'declared',
      atLeast: 0.5,
    },
    {
      about: 'it is wrong at walls, and only there',
      arm: 'program',
      of: 'wrong',
      atLeast: 0.05,
      atMost: 0.2,
    },
    { about: 'transitions are wrong', arm: 'north-and-south-exchanged', of: 'wrong', atLeast: 0.5 },
    { about: 'no transitions are declared', arm: ['rewards-alone', 'no-program'], of: 'declared', atMost: 0 },
  ],
  control: { positive: { better: 'no-program', than: 'random', atLeast: 0.5 }, same: 'no-program' },
  budget: { steps: 20_000 },
  quick: { steps: 200 },
  simplifications: [
    'a language of factors, effects, rewards and ends; no options, no policy hints, no learned groundings',
    'the agent is Q-learning that begins with the values of what is declared; no model-based or deep agents',
    'the program knows more than its rivals by construction; what is tested is that partly wrong knowledge is of use',
    'exploration rates of 0, 0.02, 0.05 and 0.1 were compared; 0 is best for every arm',
  ],
})
