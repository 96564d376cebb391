import { readFileSync } from 'node:fs'
import type { Environment } from '../environment.ts'
import { box, discrete } from '../space.ts'
import { vectorFrom } from '../vector-from.ts'
import type { ObjectVector } from '../vector-from.ts'
import type { Autoreset } from '../vector.ts'

interface ScriptedEpisode {
  observations: number[][]
  rewards: number[]
  terminated: boolean
  truncated: boolean
}
/** What a reset or a step of one environment showed: observation, reward, terminated, truncated. */
export type Shown = [number[], number, boolean, boolean]

/** Made by golden/make_wrapper_golden.py. */
export const wrapperGolden = JSON.parse(
  readFileSync(new URL('../golden/wrappers.json', import.meta.url), 'utf8'),
) as {
  slots: ScriptedEpisode[][]
  statistics: { rows: number[]; mean: number[]; variance: number[]; count: number }[]
  scalar: Record<string, Shown[]>
  vector: Record<string, [number[], number[]][]>
}

/** Plays the scripted episodes of the golden file, one script a slot. */
export function scripted(numEnvs: number, autoreset: Autoreset): ObjectVector {
  const make = (envIndex: number): Environment => {
    let k = -1
    let t = 0
    const episodes = wrapperGolden.slots[envIndex]
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
