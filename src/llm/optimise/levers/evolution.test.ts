import { expect, test } from 'vitest'
import { createRandom } from '../../../engine/random/index.ts'
import { type AgentSetup, plainSetup, setupId } from '../../setup/setup.ts'
import type { Candidate, LeverContext, SetupTrial } from '../lever.ts'
import { evolution } from './evolution.ts'
import { mergeSetups } from './merge.ts'

const polite: AgentSetup = { schema: 1, instructions: { text: 'Be polite.' } }
const described: AgentSetup = { schema: 1, tools: { find: { description: 'Finds by name.' } } }

test('a merge has from each setup what that one has changed, and from the better one what both have', () => {
  const both = { ...plainSetup, ...polite, ...described }
  expect(mergeSetups({ setup: polite, score: 0.5 }, { setup: described, score: 0.4 }, plainSetup)).toEqual(
    both,
  )
  expect(mergeSetups({ setup: polite, score: 0.4 }, { setup: described, score: 0.5 }, plainSetup)).toEqual(
    both,
  )
  const curt: AgentSetup = { ...described, instructions: { text: 'Be curt.' } }
  const named: AgentSetup = { ...polite, tools: { list: { description: 'Lists all.' } } }
  const tools = { ...described.tools, ...named.tools }
  expect(mergeSetups({ setup: curt, score: 1 }, { setup: named, score: 0 }, plainSetup)).toEqual({
    ...curt,
    tools,
  })
  expect(mergeSetups({ setup: curt, score: 0 }, { setup: named, score: 1 }, plainSetup)).toEqual({
    ...named,
    tools,
  })
})

test('there is no merge where one has changed nothing that the other left, or two tools would have one name', () => {
  const merge = (first: AgentSetup, second: AgentSetup): AgentSetup | undefined =>
    mergeSetups({ setup: first, score: 1 }, { setup: second, score: 0 }, plainSetup)
  expect(merge(polite, { schema: 1, instructions: { text: 'Be curt.' } })).toBeUndefined()
  expect(merge(polite, { ...polite, ...described })).toBeUndefined()
  expect(merge(polite, plainSetup)).toBeUndefined()
  const named = (tool: string): AgentSetup => ({ schema: 1, tools: { [tool]: { name: 'get' } } })
  expect(merge(named('find'), named('list'))).toBeUndefined()
})

const candidate = (setup: AgentSetup): Candidate => ({
  id: setupId(setup),
  lever: 'evolution',
  round: 0,
  setup,
  about: '',
  screened: 0.1,
  gain: null,
})

/** Tries of three tasks: the first setup solves one, the second another, and none the third. */
function contextOf(candidates: readonly AgentSetup[], round: number, asked: string[] = []): LeverContext {
  const solved = new Map(candidates.map((setup, at) => [setupId(setup), `task ${at}`]))
  const trials = (setup: AgentSetup = plainSetup): SetupTrial[] =>
    ['task 0', 'task 1', 'task 2'].map(
      (id) =>
        ({
          setup,
          task: { id, request: id },
          record: { success: solved.get(setupId(setup)) === id },
          episode: { samples: [], nodes: [] },
        }) as unknown as SetupTrial,
    )
  return {
    original: plainSetup,
    best: plainSetup,
    bestFound: plainSetup,
    round,
    random: createRandom('evolution', round),
    train: [],
    trials,
    tryOut: async () => [],
    candidates: candidates.map(candidate),
    tools: [{ name: 'find', inputSchema: {} }],
    systemText: '',
    models: ['m'],
    canVerify: false,
    hasProposer: true,
    training: 'nothing is trained here',
    propose: async ({ lever }) => {
      asked.push(lever)
      return [lever === 'evolution' ? 'Look twice.' : '{"find": {"description": "Finds all."}}']
    },
  }
}

test('the lever changes the instructions and the tools in turn, and merges what the front has changed apart, once', async () => {
  const asked: string[] = []
  const [text] = await evolution.propose(contextOf([], 0, asked))
  const [tools] = await evolution.propose(contextOf([], 1, asked))
  expect(asked).toEqual(['evolution', 'tool-descriptions'])
  expect(text.setup).toEqual({ schema: 1, instructions: { text: 'Look twice.' } })
  expect(tools.setup).toEqual({ schema: 1, tools: { find: { description: 'Finds all.' } } })
  const merged = { ...polite, ...described }
  const wordless = { ...contextOf([], 1), propose: async () => ['Look twice.'] }
  expect((await evolution.propose(wordless)).map(({ setup }) => setup)).toEqual([text.setup])
  const proposals = await evolution.propose(contextOf([polite, described], 2))
  expect(proposals[0].setup).toEqual(merged)
  expect(proposals[0].about).toBe(`merged: ${setupId(polite)} and ${setupId(described)}`)
  const later = contextOf([polite, described], 3)
  const again = { ...later, candidates: [...later.candidates, { ...candidate(merged), screened: null }] }
  for (const { about } of await evolution.propose(again)) expect(about).not.toMatch(/^merged/)
})
