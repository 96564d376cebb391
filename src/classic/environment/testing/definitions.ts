import { readFileSync } from 'node:fs'
import { defineEnvironment } from '../definition.ts'
import type { Environment } from '../environment.ts'
import { box, discrete } from '../space.ts'
import { type ObjectVector, vectorFrom } from '../vector-from.ts'
import type { Autoreset } from '../vector.ts'

/**
 * For tests. Adds its action to a count, ends at `goal` and has a random reward. The mask forbids actions
 * that pass the goal by more than 1. State and observation: the count and the number of steps.
 */
export const counter = defineEnvironment({
  name: 'counter',
  observation: box([2], 0, 99),
  action: discrete(3),
  context: { goal: { default: 7, low: 3, high: 9, integer: true, about: 'count of the end' } },
  stateSize: 2,
  maxSteps: 6,
  reset({ state }, i, random) {
    state[i * 2] = random.integers(3)
    state[i * 2 + 1] = 0
  },
  step({ state, context, actions, rewards, terminated }, i, random) {
    state[i * 2] += actions[i]
    state[i * 2 + 1]++
    rewards[i] = random.random()
    terminated[i] = state[i * 2] >= context.goal[i] ? 1 : 0
  },
  observe({ state, observations }, i) {
    observations[i * 2] = state[i * 2]
    observations[i * 2 + 1] = state[i * 2 + 1]
  },
  mask({ state, context, actionMask }, i) {
    for (let a = 0; a < 3; a++) actionMask[i * 3 + a] = state[i * 2] + a <= context.goal[i] + 1 ? 1 : 0
  },
})

interface ScriptedEpisode {
  observations: number[][]
  rewards: number[]
  terminated: boolean
  truncated: boolean
}
/** The result of a reset or step of one environment: observation, reward, terminated, truncated. */
export type Shown = [number[], number, boolean, boolean]

/** Written by golden/make_wrapper_golden.py. */
export const wrapperGolden = JSON.parse(
  readFileSync(new URL('../golden/wrappers.json', import.meta.url), 'utf8'),
) as {
  environments: ScriptedEpisode[][]
  statistics: { rows: number[]; mean: number[]; variance: number[]; count: number }[]
  scalar: Record<string, Shown[]>
  vector: Record<string, [number[], number[]][]>
}

/** Plays the scripted episodes of the golden file, one script for each environment. */
export function scripted(numEnvs: number, autoreset: Autoreset): ObjectVector {
  const make = (envIndex: number): Environment => {
    let k = -1
    let t = 0
    const episodes = wrapperGolden.environments[envIndex]
    const episode = (): ScriptedEpisode => episodes[k % episodes.length]
    return {
      name: 'scripted',
      observationSpace: box([3], -Infinity, Infinity),
      actionSpace: discrete(2),
      reset() {
        k++
        t = 0
        return { observation: Float32Array.from(episode().observations[0]) }
      },
      step() {
        const { observations, rewards, terminated, truncated } = episode()
        const reward = rewards[t++]
        const over = t === rewards.length
        return {
          observation: Float32Array.from(observations[t]),
          reward,
          terminated: over && terminated,
          truncated: over && truncated,
        }
      },
    }
  }
  return vectorFrom(make, numEnvs, { autoreset })
}
