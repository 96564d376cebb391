import type { Episode, EpisodeSample } from '../../episode/types.ts'

/** A successful episode of one question and one answer. `fields` override the defaults. */
export function episodeOf(fields: Partial<Episode> & { answer?: string } = {}): Episode {
  const { answer = 'six', ...rest } = fields
  const node = { agent: 'agent', tokens: new Int32Array(0) }
  return {
    schema: 1,
    id: 'e',
    group: 'g',
    environment: 'w',
    task: 't',
    kind: 'f',
    seed: 0,
    context: {},
    status: 'ok',
    ending: 'answered',
    nodes: [
      { ...node, id: 0, parent: null, role: 'user', text: 'How much?' },
      { ...node, id: 1, parent: 0, role: 'assistant', text: answer },
    ],
    samples: [],
    rewards: [],
    success: true,
    usage: { promptTokens: 0, sampledTokens: 0, calls: 3, invalidCalls: 1 },
    timing: { seconds: 0, toolSeconds: 0 },
    ...rest,
  }
}

/** One output of a policy, without tokens. */
export const emptySample: EpisodeSample = {
  path: [],
  output: 0,
  logprobs: new Float32Array(0),
  mask: new Uint8Array(0),
  weightVersion: 0,
  sampling: { temperature: 1 },
  trainable: true,
}
