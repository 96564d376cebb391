import { expect, test } from 'vitest'
import type { Episode } from '../episode/types.ts'
import { wrongToRight } from './samples.ts'

function episode(
  task: string,
  kind: string,
  success: boolean,
  calls = 1,
  fields: Partial<Episode> = {},
): Episode {
  return {
    schema: 1,
    id: task,
    group: task,
    environment: 'w',
    task,
    kind,
    seed: 0,
    context: {},
    status: 'ok',
    ending: 'answered',
    nodes: [
      { id: 0, parent: null, agent: 'agent', role: 'user', tokens: Int32Array.of(1), text: `do ${task}` },
      {
        id: 1,
        parent: 0,
        agent: 'agent',
        role: 'assistant',
        tokens: Int32Array.of(2),
        text: '',
        calls: [{ id: '0.0', name: 'get', arguments: { box: 'red' } }],
      },
    ],
    samples: [],
    rewards: [],
    success,
    usage: { promptTokens: 0, sampledTokens: 0, calls, invalidCalls: 0 },
    timing: { seconds: 0, toolSeconds: 0 },
    ...fields,
  }
}

test('shown are tasks that went from wrong to right, of different families, the longest first', () => {
  const before = ['a', 'b', 'c', 'd', 'e'].map((task) =>
    episode(task, task < 'd' ? 'read' : 'write', task === 'a'),
  )
  const after = [
    episode('a', 'read', true),
    episode('b', 'read', true, 1),
    episode('c', 'read', true, 3),
    episode('d', 'write', true, 2),
    episode('e', 'write', false),
  ]
  const samples = wrongToRight(before, after, 3)
  expect(samples.map(({ task }) => task)).toEqual(['c', 'd', 'b'])
  expect(samples[0].prompt).toBe('do c')
  expect(samples[0].after[1].calls).toEqual([{ name: 'get', arguments: { box: 'red' } }])
})

test('a masked episode was not wrong, it was ours', () => {
  const masked = episode('a', 'read', false, 0, { status: 'masked', success: null })
  expect(wrongToRight([masked], [episode('a', 'read', true)], 3)).toEqual([])
})
