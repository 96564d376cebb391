// Trains PPO on CartPole in a worker, with the same environment, algorithm and loop as in Node.
import {
  cartPole,
  evaluateAgent,
  learnUntil,
  meanInterval,
  ppo,
  ppoPresets,
  createVectorEnvironment,
} from 'agoge/browser'
import { budget, goal } from './goal.ts'
import type { Report, Request } from './messages.ts'
import { watchedPole } from './watched-pole.ts'

const { numEnvs, ...settings } = ppoPresets['sb3-zoo-cartpole']
/** Environment steps of one update. The page gets one message per update. */
const reportEvery = numEnvs * settings.rolloutSteps
const evaluateEvery = 16 * reportEvery

const asked = { paused: false }

addEventListener('message', ({ data }: MessageEvent<Request>) => {
  asked.paused = data.type === 'pause'
  if (data.type === 'start')
    train(data).catch((error: unknown) => report({ type: 'failed', message: String(error) }))
})

/** @param width units of each of the two hidden layers. */
async function train({ seed, width }: { seed: number; width: number }): Promise<void> {
  const opened = performance.now()
  const environment = createVectorEnvironment(cartPole, { numEnvs, seed })
  environment.reset()
  const agent = await ppo({ ...settings, hidden: [width, width] })(environment, { seed, totalSteps: budget })
  report({ type: 'training', loadingSeconds: (performance.now() - opened) / 1000, engine: engineUsed() })

  const pole = watchedPole(agent, seed)
  let ended: number[] = []
  let episodes = 0
  let seconds = 0
  let started = performance.now()

  const watch = (): void => {
    const frame = pole.play()
    if (frame !== undefined) report({ type: 'frame', ...frame })
  }

  const evaluate = async (step: number, episodes: number, seed: number): Promise<number> => {
    const { returns } = await evaluateAgent(agent, cartPole, { episodes, seed })
    const { mean, low, high } = meanInterval(Array.from(returns))
    // Twenty episodes always have an interval, and no return exceeds 500.
    report({ type: 'evaluation', step, mean, low: low ?? mean, high: Math.min(500, high ?? mean), episodes })
    return mean
  }

  const listening = {
    act: () => agent.act(),
    learn() {
      const { terminated, truncated, returns } = environment
      for (let i = 0; i < numEnvs; i++) if (terminated[i] === 1 || truncated[i] === 1) ended.push(returns[i])
      return agent.learn()
    },
  }

  const steps = await learnUntil(environment, listening, {
    steps: budget,
    every: reportEvery,
    async until(step) {
      seconds += (performance.now() - started) / 1000
      episodes += ended.length
      const mean = ended.reduce((sum, value) => sum + value, 0) / ended.length
      report({ type: 'progress', step, seconds, episodes, ...(ended.length > 0 ? { ended: mean } : {}) })
      ended = []
      watch()
      // Twenty episodes show whether a full evaluation is worthwhile. The full one uses a hundred new episodes.
      const solved =
        (step % evaluateEvery === 0 || step >= budget) &&
        (await evaluate(step, 20, seed)) >= goal &&
        (await evaluate(step, 100, seed + step)) >= goal
      if (asked.paused && !solved) {
        report({ type: 'paused' })
        while (asked.paused) {
          await pause(20)
          watch()
        }
      }
      started = performance.now()
      return solved
    },
  })
  report({ type: 'ended', solved: steps < Infinity })
  for (;;) {
    await pause(20)
    watch()
  }
}

/** The first program that needs ONNX Runtime fetches it. Small programs do not need it. */
function engineUsed(): 'ONNX Runtime' | 'own kernels' {
  const fetched = performance.getEntriesByType('resource')
  return fetched.some(({ name }) => name.includes('ort-wasm')) ? 'ONNX Runtime' : 'own kernels'
}

function report(message: Report): void {
  postMessage(message)
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, milliseconds)
  })
}
