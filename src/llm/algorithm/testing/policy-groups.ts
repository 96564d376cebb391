import { createRandom } from '../../../engine/random/index.ts'
import type { Episode } from '../../episode/types.ts'
import type { EpisodeGroup } from '../types.ts'
import { oneAnswer } from './one-answer.ts'

const random = createRandom(4)
/** An answer of `length` trained tokens after the forced marker. */
export function answer(id: string, length: number, fields: Partial<Episode> = {}): Episode {
  const episode = oneAnswer(id, length + 1, fields)
  episode.nodes[1].tokens.set(
    Array.from({ length }, () => 4 + random.int(50)),
    1,
  )
  for (let t = 1; t <= length; t++) episode.samples[0].logprobs[t] = -4 - random.next() / 4
  return episode
}

/** Groups with different rewards, with ties, with equal rewards, and with a masked episode. */
export const groups: EpisodeGroup[] = [
  { episodes: [answer('a', 3), answer('b', 5), answer('c', 2)], rewards: [1, 0, 0.1], greedyReward: 0 },
  { episodes: [answer('d', 4), answer('e', 4), answer('f', 6)], rewards: [0, 1, 1], greedyReward: 1 },
  { episodes: [answer('g', 2), answer('h', 3), answer('i', 3)], rewards: [1, 1, 1], greedyReward: 1 },
  { episodes: [answer('j', 9), answer('k', 3), answer('l', 3)], rewards: [null, 0, 1], greedyReward: null },
]
