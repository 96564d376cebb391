import type { Episode } from '../../episode/types.ts'

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
