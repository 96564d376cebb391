// Trains PPO on CartPole and evaluates the greedy policy on 100 episodes.
import { cartPole, ppo, ppoPresets, trainClassic } from 'agoge'

const steps = Number(process.env['STEPS'] ?? 100_000)
const { numEnvs, ...settings } = ppoPresets['sb3-zoo-cartpole']
const { summary, agent } = await trainClassic({
  definition: cartPole,
  algorithm: ppo(settings),
  numEnvs,
  steps,
})
console.log(`mean return ${summary.return.mean.toFixed(1)} after ${summary.seconds.toFixed(1)} s of training`)
await agent.dispose()
