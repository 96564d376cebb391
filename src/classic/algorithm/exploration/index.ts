import { defined } from '../../../defined.ts'
import type { Encoder } from '../../policy/index.ts'
import type { MakeBonus } from './bonus.ts'
import { counts } from './counts.ts'
import { icm } from './icm.ts'
import { rnd } from './rnd.ts'

export { type ExplorationBonus, type MakeBonus } from './bonus.ts'
export { counts } from './counts.ts'
export { type CountOptions } from './counts.ts'
export { icm } from './icm.ts'
export { type IcmOptions } from './icm.ts'
export { rnd } from './rnd.ts'
export { type RndOptions } from './rnd.ts'
export { withBonus } from './bonus.ts'

/**
 * A bonus that is available by name. Its settings are plain numbers, because they are written to the record of a
 * run.
 */
export interface BonusEntry {
  /** One line: what it is, and its paper. */
  readonly about: string
  /** All settings with their defaults. `weight` multiplies the bonus in the sum with the reward. */
  readonly settings: Readonly<Record<string, number>>
  /** Makes the bonus. `encoder` is that of its networks. */
  create(settings: Readonly<Record<string, number>>, encoder?: Encoder): MakeBonus
}

/** The exploration bonuses by name. */
export const explorationBonuses: Readonly<Record<string, BonusEntry>> = {
  counts: {
    about:
      '1 / sqrt(visits) of the state reached (Strehl & Littman 2008); with hashBits by SimHash (Tang et al. 2017)',
    settings: { weight: 0.03, resolution: 0.01, hashBits: 0 },
    create: ({ resolution = 0.01, hashBits = 0 }) =>
      counts({ resolution, ...(hashBits === 0 ? {} : { hashBits }) }),
  },
  rnd: {
    about: 'error in predicting a random network (Burda et al. 2018)',
    settings: { weight: 0.05, batchSize: 128, learningRate: 1e-3, gamma: 0.99, features: 16 },
    create: (settings, encoder) => rnd({ ...settings, ...defined({ encoder }) }),
  },
  icm: {
    about: 'error in predicting what an action leads to (Pathak et al. 2017)',
    settings: { weight: 0.05, batchSize: 128, learningRate: 1e-3, beta: 0.2, features: 16 },
    create: (settings, encoder) => icm({ ...settings, ...defined({ agentEncoder: encoder }) }),
  },
}
