import { expect, test } from 'vitest'
import { defined } from '../../../defined.ts'
import { createRandom } from '../../../engine/random/random.ts'
import type { Episode } from '../../episode/types.ts'
import type { TrialRecord } from '../../project/journal.ts'
import { plainSetup } from '../../setup/setup.ts'
import type { LeverContext, SetupTrial } from '../lever.ts'
import type { TrainingRequest } from '../model-training.ts'
import { limitTokens, TokenLimit } from '../token-limit.ts'
import { rl } from './rl.ts'
import { sft } from './sft.ts'

const trialOf = (id: string, success: boolean, setup = plainSetup): SetupTrial => ({
  setup,
  task: { id, prompt: id },
  record: { success } as TrialRecord,
  episode: {
    nodes: [{ role: 'assistant', text: `answer to ${id}` }],
    usage: { promptTokens: 90, sampledTokens: 10 },
  } as unknown as Episode,
})

function contextWith(
  trials: readonly SetupTrial[],
  share: number,
): { context: LeverContext; asked: TrainingRequest[] } {
  const asked: TrainingRequest[] = []
  const context: LeverContext = {
    original: plainSetup,
    best: plainSetup,
    bestFound: plainSetup,
    round: 0,
    random: createRandom('test'),
    train: trials.map(({ task }) => task),
    trials: () => trials,
    tryOut: () => Promise.resolve([]),
    candidates: [],
    tools: [],
    systemText: '',
    models: ['model'],
    training: {
      model: 'model',
      canTrain: (name) => name === 'model',
      episodesOfStep: 16,
      share: () => share,
      train(request) {
        asked.push(request)
        return Promise.resolve({ folder: `trained/${request.name}`, tokens: 5, about: 'done' })
      },
    },
    canVerify: false,
    hasProposer: false,
    propose: () => Promise.resolve([]),
  }
  return { context, asked }
}

const trials = Array.from({ length: 10 }, (_, at) => trialOf(`t${at}`, at < 6))

test('sft trains on successes, each once, and names the checkpoint of its setup', async () => {
  const voted = trialOf('t9', true, { ...plainSetup, testTime: { method: 'votes', count: 3 } })
  const { context, asked } = contextWith([...trials, ...trials, voted], 12_000)
  expect(sft.waitsFor?.(context)).toBeUndefined()
  const [proposal] = await sft.propose(context)
  expect(proposal.setup).toEqual({ schema: 1, model: 'sft-0', checkpoints: { 'sft-0': 'trained/sft-0' } })
  const [{ method, tokens }] = asked
  expect(method.name === 'sft' && method.trials.map(({ task }) => task.id)).toEqual([
    't0',
    't1',
    't2',
    't3',
    't4',
    't5',
  ])
  // Six episodes of 100 tokens, eight times, and half as much again.
  expect(tokens).toBe(7200)
  // Of ten tasks, three of which are tried again for each.
  expect(sft.upfront?.(context)).toEqual({ tokens: 12_000, dollars: 0 })
})

test('sft tries what is left with the setups that solve most, unless that costs more than a training may', async () => {
  const collected = async (share: number): Promise<string[]> => {
    const { context } = contextWith(trials, share)
    const tried: string[] = []
    const tryOut = (_: unknown, tasks: readonly { id: string }[]): Promise<[]> => {
      tried.push(...tasks.map(({ id }) => id))
      return Promise.resolve([])
    }
    await sft.propose({ ...context, tryOut })
    return tried
  }
  expect(await collected(400)).toEqual(['t6', 't7', 't8', 't9'])
  expect(await collected(399)).toEqual([])
})

test('rl makes as many steps as its tokens allow, and none again without a gain', async () => {
  const { context, asked } = contextWith(trials, 30_000)
  await rl.propose(context)
  // 16 episodes of 100 tokens, sampled and trained on: 4,000 with a margin.
  expect(asked).toEqual([
    { name: 'rl-0', tokens: 28_000, method: { name: 'rl', steps: 7, prompt: plainSetup } },
  ])
  // Four of ten fail.
  expect(rl.expects?.(context)).toBeCloseTo(0.1)
  expect(rl.expects?.(contextWith(trials.slice(6), 30_000).context)).toBe(0)
})

test('rl starts from the best setup that any lever has found, with its prompt, and goes on from a gain', async () => {
  const { context, asked } = contextWith(trials, 30_000)
  const prompt = { ...plainSetup, instructions: { text: 'Say it twice.' } }
  const bestFound = { ...prompt, model: 'model', testTime: { method: 'votes', count: 3 } } as const
  const [proposal] = await rl.propose({ ...context, bestFound })
  expect(asked[0]).toMatchObject({ from: 'model', method: { prompt } })
  expect(proposal.setup).toEqual({ ...prompt, model: 'rl-0', checkpoints: { 'rl-0': 'trained/rl-0' } })
  const { setup, from } = proposal
  const candidates = [
    { id: '', lever: 'rl', round: 0, about: '', screened: null, gain: 0.1, setup, ...defined({ from }) },
  ]
  const next = { ...context, round: 1, candidates }
  // Nothing was gained: the start would be the same.
  expect(rl.waitsFor?.({ ...next, bestFound })).toBe('it has begun from the best setup before')
  // Another lever has found a better one.
  const other = { ...plainSetup, model: 'sft-0' }
  for (const better of [other, proposal.setup]) {
    expect(rl.waitsFor?.({ ...next, bestFound: better })).toBeUndefined()
    expect(await rl.propose({ ...next, bestFound: better })).toHaveLength(1)
  }
})

test('what cannot be trained, or not yet, is not used, with the reason', () => {
  const { context } = contextWith(trials, 1000)
  expect(rl.unusable(context)).toMatch(/^the budget: a training takes at least 20000 tokens/)
  expect(sft.waitsFor?.(context)).toMatch(/^the budget/)
  expect(sft.waitsFor?.(contextWith(trials.slice(4), 10_000).context)).toMatch(/2 training tasks were solved/)
  for (const lever of [sft, rl])
    expect(lever.unusable({ ...context, training: 'no local model' })).toBe('no local model')
})

test('a backend stops before the call that could exceed its tokens', async () => {
  const backend = {
    sample: () => Promise.resolve([{ tokens: Int32Array.of(1, 2) }]),
  } as unknown as Parameters<typeof limitTokens>[0]
  const limit = limitTokens(backend, 40, new AbortController().signal)
  const request = [{ prompt: new Int32Array(10), key: 0 }]
  const settings = { maxTokens: 20, stop: [], temperature: 1, seed: 0 }
  await limit.backend.sample(request, settings)
  expect(limit.used()).toBe(12)
  await expect(limit.backend.sample(request, settings)).rejects.toBeInstanceOf(TokenLimit)
  expect(limit.used()).toBe(12)
  expect(limit.signal.aborted).toBe(true)
})
