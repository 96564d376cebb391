import { createRandom } from 'agoge/engine'
import { average } from 'agoge/statistics'
import { definePaper } from '../runner/paper.ts'
import type { ArmResult, ArmRun } from '../runner/paper.ts'

const goals = 6
/** Each segment lasts this many steps, uniformly. */
const [shortest, longest] = [10, 20]
const meanLength = (shortest + longest) / 2
/** Probability of a reward at the goal, and elsewhere. */
const [atGoal, elsewhere] = [0.7, 0.2]

/** Probability that a segment that has lasted `age` steps ends now. */
type Hazard = (age: number) => number
const uniformHazard: Hazard = (age) => (age < shortest ? 0 : 1 / Math.max(1, longest - age + 1))

/** A belief about the goal, updated by what was visited and whether it paid. */
interface Belief {
  /** Probability of each goal [goals]. */
  goal: () => number[]
  /** Steps since the last switch, expected. */
  age: () => number
  update: (visited: number, paid: boolean) => void
}

const likelihood = (goal: number, visited: number, paid: boolean): number => {
  const p = goal === visited ? atGoal : elsewhere
  return paid ? p : 1 - p
}

/** The exact posterior over the length of the segment and the goal, jointly: `joint[age * goals + goal]`. */
function segmentBelief(hazard: Hazard, most: number): Belief {
  let joint = new Float64Array((most + 1) * goals)
  joint.fill(1 / goals, 0, goals)
  return {
    goal() {
      const sums = Array.from({ length: goals }, () => 0)
      for (let at = 0; at < joint.length; at++) sums[at % goals] += joint[at]
      return sums
    },
    age() {
      let mean = 0
      for (let at = 0; at < joint.length; at++) mean += Math.floor(at / goals) * joint[at]
      return mean
    },
    update(visited, paid) {
      const next = new Float64Array(joint.length)
      let [sum, ended] = [0, 0]
      for (let age = 0; age <= most; age++) {
        const ends = hazard(age + 1)
        for (let goal = 0; goal < goals; goal++) {
          const weight = joint[age * goals + goal] * likelihood(goal, visited, paid)
          sum += weight
          ended += weight * ends
          next[Math.min(most, age + 1) * goals + goal] += weight * (1 - ends)
        }
      }
      for (let goal = 0; goal < goals; goal++) next[goal] += ended / goals
      joint = next.map((p) => p / sum)
    },
  }
}

/** The frequencies of the last visits alone: a window, as a policy with a short memory has it. */
function windowBelief(length: number): Belief {
  const visits: { visited: number; paid: boolean }[] = []
  return {
    goal() {
      const found = Array.from({ length: goals }, (_, goal) =>
        visits.reduce((product, { visited, paid }) => product * likelihood(goal, visited, paid), 1),
      )
      const sum = found.reduce((all, p) => all + p, 0)
      return found.map((p) => p / sum)
    },
    age: () => visits.length / 2,
    update(visited, paid) {
      visits.push({ visited, paid })
      if (visits.length > length) visits.shift()
    },
  }
}

/** Visits the likeliest goal; `share` measures how many steps of the play it was the true one. */
function play({ seed, budget }: ArmRun, make: () => Belief): ArmResult {
  const hits: number[] = []
  const errors: number[] = []
  let switches = 0
  for (let episode = 0; episode < budget.episodes; episode++) {
    // What happens is the same for every arm: the goals, their lengths and the luck of each step.
    const drawn = createRandom(seed, 'segments', episode)
    const luck = createRandom(seed, 'luck', episode)
    const belief = make()
    let [goal, age, length] = [drawn.int(goals), 0, shortest + drawn.int(longest - shortest + 1)]
    for (let step = 0; step < budget.steps; step++) {
      const beliefs = belief.goal()
      const visited = beliefs.indexOf(Math.max(...beliefs))
      hits.push(visited === goal ? atGoal : elsewhere)
      errors.push(Math.abs(belief.age() - age))
      belief.update(visited, luck.next() < hits[hits.length - 1])
      if (++age < length) continue
      ;[goal, age, length] = [drawn.int(goals), 0, shortest + drawn.int(longest - shortest + 1)]
      switches++
    }
  }
  return {
    score: average(hits),
    measures: { ageError: average(errors), switches: switches / budget.episodes },
  }
}

export default definePaper({
  id: 'secbad',
  title: 'An Adaptive Deep RL Method for Non-Stationary Environments with Piecewise Stable Context',
  theme: 'contextual',
  claim:
    'A belief about the context together with the length of its segment gains more, where contexts switch, than a belief over the whole episode, than a window, and than forgetting at a constant rate.',
  arms: {
    secbad: (run) => play(run, () => segmentBelief(uniformHazard, longest)),
    'whole-episode': (run) => play(run, () => segmentBelief(() => 0, 0)),
    // The best of windows of 4, 6, 8, 10, 12 and 16 steps on seeds above 100.
    window: (run) => play(run, () => windowBelief(6)),
    'constant-hazard': (run) => play(run, () => segmentBelief(() => 1 / meanLength, 0)),
    'no-belief': (run) => play(run, () => windowBelief(0)),
  },
  metric: 'expected reward of a step, mean over the steps of episodes in which one of six goals pays',
  pairing: 'seed',
  effect: { better: 'secbad', than: ['whole-episode', 'window', 'constant-hazard'], atLeast: 0.01 },
  checks: [
    { about: 'contexts switch within an episode', arm: 'secbad', of: 'switches', atLeast: 3 },
    { about: 'the length of the segment is inferred', arm: 'secbad', of: 'ageError', atMost: 4 },
    { about: 'nothing infers it', arm: 'whole-episode', of: 'ageError', atLeast: 4 },
  ],
  control: { positive: { better: 'window', than: 'no-belief', atLeast: 0.02 } },
  budget: { steps: 120, episodes: 20 },
  quick: { steps: 20, episodes: 1 },
  simplifications: [
    'a bandit of six goals stands for control tasks; beliefs are exact with known likelihoods, not learned by a variational network',
    'every arm visits the likeliest goal, in place of a policy trained on the belief',
    'that a belief that never forgets loses follows by construction; the other two rivals could win, since acting is greedy',
  ],
})
