import { arms, armsOf, type Mixture } from './arms.ts'
import type { Setting } from './settings.ts'
import type { Piece } from './store.ts'
import { chooseRate, chooseWarmStart } from './tuning.ts'

export interface Missing {
  setting: string
  /** Pieces that are known to be needed. Tuning may need more, if a best rate is at the edge of its grid. */
  tuning: number
  mixtures: { mixture: Mixture; planned: number; done: number }[]
  /** Mean CPU minutes of a stored arm, training alone; null if none is stored. */
  minutes: number | null
}

export function missingPieces(chosen: readonly Setting[], pieces: readonly Piece[]): Missing[] {
  return chosen.map((setting) => {
    const own = pieces.filter((piece) => piece.setting === setting.name)
    const names = armsOf(setting.name)
    const tuned = names.reduce((sum, arm) => {
      if ('chosen' in chooseRate(setting, arm, own)) return sum
      const tried = own.filter((piece) => piece.piece === 'tuning' && piece.arm === arm).length
      return sum + Math.max(1, arms[arm].grid.length * setting.tuningSeeds.length - tried)
    }, 0)
    const warm = 'chosen' in chooseWarmStart(setting, own) ? 0 : 1
    const mixtures = setting.mixtures.map((mixture) => ({
      mixture,
      planned: setting.seeds.length * names.length,
      done: own.filter((piece) => piece.piece === 'arm' && piece.mixture === mixture).length,
    }))
    const minutes = own.flatMap((piece) =>
      (piece.piece === 'arm' || piece.piece === 'tuning') && piece.cost.cpuMinutes !== null
        ? [piece.cost.cpuMinutes]
        : [],
    )
    return {
      setting: setting.name,
      tuning: tuned + warm,
      mixtures,
      minutes: minutes.length === 0 ? null : minutes.reduce((sum, value) => sum + value, 0) / minutes.length,
    }
  })
}

export function hoursText(missing: readonly Missing[]): string {
  return missing
    .map(({ setting, tuning, mixtures, minutes }) => {
      const done = mixtures.reduce((sum, each) => sum + each.done, 0)
      const reported = mixtures.reduce((sum, each) => sum + each.planned, 0) - done
      const left = tuning + reported
      const hours =
        minutes === null
          ? ''
          : `, ${((left * minutes) / 60).toFixed(1)} hours of one core at ${minutes.toFixed(1)} minutes each`
      return `${setting}: ${done} reported pieces done; ${tuning} of tuning and ${reported} reported are missing${hours}`
    })
    .join('\n')
}
