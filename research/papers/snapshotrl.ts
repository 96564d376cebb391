import { evaluateAgent } from 'agoge'
import {
  createVectorEnvironment,
  fastStream,
  startAt,
  sac,
  sacPresets,
  learnUntil,
  pendulum,
} from 'agoge/classic'
import type { EnvironmentDefinition } from 'agoge/classic'
import { definePaper } from '../runner/paper.ts'
import { average } from 'agoge/statistics'
import type { ArmRun } from '../runner/paper.ts'

/** A swing-up that starts hanging, almost at rest. */
const swingUp: EnvironmentDefinition = {
  ...pendulum,
  reset({ state }, i, random) {
    state[i * 2] = Math.PI + random.uniform(-0.1, 0.1)
    state[i * 2 + 1] = random.uniform(-0.1, 0.1)
  },
}

/** Pumps energy up to that of standing upright, and holds the top. */
function teacherTorque(angle: number, speed: number): number {
  const offset = angle - 2 * Math.PI * Math.round(angle / (2 * Math.PI))
  const torque =
    Math.abs(offset) < 0.3 && Math.abs(speed) < 2
      ? -8 * offset - 2 * speed
      : 2 * Math.sign((15 - speed ** 2 / 2 - 15 * Math.cos(offset)) * (speed || 1))
  return Math.min(2, Math.max(-2, torque))
}

/** States of the teacher's episodes, evenly spaced in time. */
function snapshots(seed: number): Float64Array[] {
  const teacher = createVectorEnvironment(swingUp, { numEnvs: 4, seed: 1000 + seed })
  teacher.reset()
  const kept: Float64Array[] = []
  for (let step = 1; step < 200; step++) {
    for (let i = 0; i < 4; i++)
      teacher.actions[i] = teacherTorque(teacher.envs.state[i * 2], teacher.envs.state[i * 2 + 1])
    teacher.step()
    if (step % 10 === 0) for (let i = 0; i < 4; i++) kept.push(teacher.envs.state.slice(i * 2, i * 2 + 2))
  }
  return kept
}

/** Mean return of the greedy policy from the usual start, over the evaluations of the run. */
async function areaUnderCurve({ seed, budget }: ArmRun, shareOfRun: number): Promise<number> {
  const random = fastStream('snapshots', seed)
  const states = snapshots(seed)
  let early = shareOfRun > 0
  const environment = startAt(createVectorEnvironment(swingUp, { numEnvs: 1, seed }), ({ state }) => {
    if (early) state.set(states[random.integers(states.length)])
  })
  environment.reset()
  const config = { ...sacPresets['sb3-zoo-pendulum'], hidden: [64, 64], batchSize: 64 }
  const agent = await sac(config)(environment, { seed, totalSteps: budget.steps })
  const returns: number[] = []
  await learnUntil(environment, agent, {
    steps: budget.steps,
    every: budget.steps / 20,
    async until(step) {
      early = step < shareOfRun * budget.steps
      returns.push(average((await evaluateAgent(agent, swingUp, { episodes: 10, seed })).returns))
      return false
    },
  })
  await agent.dispose()
  return average(returns)
}

export default definePaper({
  id: 'snapshotrl',
  title: 'Snapshot Reinforcement Learning: Leveraging Prior Trajectories for Efficiency',
  theme: 'curriculum-autorl',
  claim:
    "Beginning early episodes in states of a teacher's trajectories makes learning more sample-efficient, with algorithm and networks unchanged.",
  arms: { snapshots: (run) => areaUnderCurve(run, 0.3), plain: (run) => areaUnderCurve(run, 0) },
  metric: 'return of the pendulum swing-up by SAC, mean over 20 evaluations at even distances in training',
  budget: { steps: 4000 },
  quick: { steps: 200 },
  pairing: 'seed',
  effect: { better: 'snapshots', than: ['plain'], atLeast: 50 },
  simplifications: [
    'a scripted controller stands for the trained teacher',
    'a pendulum stands for MuJoCo; states at even distances in time stand for clusters of them, and episodes of the student are not cut short',
  ],
})
