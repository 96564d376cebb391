import { expect, test } from 'vitest'
import type { Episode } from '../../episode/types.ts'
import type { TrialRecord } from '../../project/journal.ts'
import { type AgentSetup, plainSetup, setupId } from '../../setup/setup.ts'
import type { LeverContext, SetupTrial } from '../lever.ts'
import { modelChoice } from './model-choice.ts'

const train = Array.from({ length: 8 }, (_, at) => ({
  id: `t${at}`,
  prompt: at < 4 ? 'count these' : 'draw',
}))
const own = plainSetup
const other: AgentSetup = { ...plainSetup, model: 'other' }

const trialOf = (setup: AgentSetup, at: number, success: boolean): SetupTrial => ({
  setup,
  task: train[at],
  record: { success, cost: { tokens: 100, dollars: 0.25 } } as TrialRecord,
  episode: {} as Episode,
})

/** The own model solves the first tasks, and the other one those from `from`; it was tried on the last `tried`. */
function contextWith(from: number, tried: number) {
  const known = train.flatMap((_, at) => [
    trialOf(own, at, at < 4),
    ...(at >= train.length - tried ? [trialOf(other, at, at >= from)] : []),
  ])
  const asked: string[] = []
  const context = {
    best: own,
    original: own,
    models: ['own', 'other'],
    round: 1,
    train,
    trials: (setup?: AgentSetup) =>
      known.filter((one) => setup === undefined || setupId(one.setup) === setupId(setup)),
    tryOut(setup: AgentSetup) {
      asked.push(setup.model ?? 'own')
      return Promise.resolve(known.filter((one) => setupId(one.setup) === setupId(setup)))
    },
  } as unknown as LeverContext
  return { context, asked }
}

test('a route is worth half of what the models solve between them beyond the better one', () => {
  // Each solves its half.
  expect(modelChoice.expects?.(contextWith(4, 8).context)).toBeCloseTo(0.25)
  // The other solves everything.
  expect(modelChoice.expects?.(contextWith(0, 8).context)).toBe(0)
  // The other solves nothing.
  expect(modelChoice.expects?.(contextWith(8, 8).context)).toBe(0)
  // Nothing is known of the other, or no route is next.
  expect(modelChoice.expects?.(contextWith(4, 0).context)).toBeUndefined()
  expect(modelChoice.expects?.({ ...contextWith(4, 8).context, round: 0 })).toBeUndefined()
})

test('a route costs the trials that are missing, and those of the own model are there', async () => {
  const { context, asked } = contextWith(4, 6)
  expect(modelChoice.upfront?.(context)).toEqual({ tokens: 200, dollars: 0.5 })
  expect(modelChoice.upfront?.({ ...context, round: 0 })).toEqual({ tokens: 0, dollars: 0 })
  const [{ setup }] = await modelChoice.propose(context)
  expect(asked).toEqual(['own', 'other'])
  expect(Object.keys(setup.routing?.models ?? {})).toEqual(['own', 'other'])
  expect(setup.model).toBeUndefined()
})
