import { createRandom } from '../../../engine/random/index.ts'
import type { Episode } from '../../episode/types.ts'
import type { EpisodeGroup } from '../types.ts'

/** One user message and one answer of `length` tokens, beginning with the forced marker. */
export function oneAnswer(id: string, length: number, fields: Partial<Episode> = {}): Episode {
  return {
    schema: 1,
    id,
    group: 'g',
    environment: 'w',
    task: 't',
    kind: 'f',
    seed: 0,
    context: {},
    status: 'ok',
    ending: 'answered',
    nodes: [
      { id: 0, parent: null, agent: 'main', role: 'user', text: '', tokens: Int32Array.of(3, 10, 1) },
      {
        id: 1,
        parent: 0,
        agent: 'main',
        role: 'assistant',
        text: '',
        tokens: new Int32Array(length).fill(20),
      },
    ],
    samples: [
      {
        path: [0],
        output: 1,
        logprobs: new Float32Array(length).fill(-0.5),
        mask: new Uint8Array(length).fill(1).fill(0, 0, 1),
        weightVersion: 0,
        sampling: { temperature: 1 },
        trainable: true,
      },
    ],
    rewards: [],
    success: true,
    usage: { promptTokens: 3, sampledTokens: length - 1, calls: 0, invalidCalls: 0 },
    timing: { seconds: 0, toolSeconds: 0 },
    ...fields,
  }
}

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
