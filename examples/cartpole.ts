// Trains PPO on CartPole, the greedy policy evaluated on 100 episodes in the end.
import { cartPole, ppo, ppoPresets, trainArray } from 'agoge'

const steps = Number(process.env['STEPS'] ?? 100_000)
const { slots, ...settings } = ppoPresets['sb3-zoo-cartpole']
const { summary, agent } = await trainArray({ world: cartPole, algorithm: ppo(settings), slots, steps })
console.log(`mean return ${summary.return.mean.toFixed(1)} after ${summary.seconds.toFixed(1)} s of training`)
await agent.dispose()
