import { expect, test } from 'vitest'
import type { Episode, EpisodeNode } from '../episode/types.ts'
import { unstableTools } from './collect.ts'

/** An episode with calls of these tools in turn, and whether each failed. */
function episode(...called: [name: string, isError: boolean, invalid?: string][]): Episode {
  const nodes = called.flatMap(([name, isError, invalid], at): EpisodeNode[] => {
    const common = { parent: null, agent: 'agent', tokens: new Int32Array(0), text: '' }
    return [
      {
        ...common,
        id: 2 * at,
        role: 'assistant',
        calls: [{ id: `${at}.0`, name, arguments: {} }],
        ...(invalid === undefined ? {} : { invalid }),
      },
      { ...common, id: 2 * at + 1, role: 'tool', callId: `${at}.0`, isError },
    ]
  })
  return { nodes } as Partial<Episode> as Episode
}

test('the share of failed calls makes a tool unstable, and calls after a failure do not count', () => {
  const played = [
    episode(['find', false], ['show', false]),
    episode(['find', true], ['show', true]),
    episode(['find', false], ['show', false]),
    // Refused before it was sent: not the tool's fault.
    episode(['show', true, '"id" is missing']),
  ]
  expect(unstableTools(played)).toEqual({ find: { calls: 3, failed: 1 } })
  expect(unstableTools([])).toEqual({})
})
