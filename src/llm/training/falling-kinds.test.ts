import { expect, test } from 'vitest'
import { createRandom } from '../../engine/random/index.ts'
import { wilsonInterval } from '../../statistics/statistics.ts'
import type { Estimate } from '../../statistics/statistics.ts'
import { fallenKinds } from './falling-kinds.ts'
import type { LoopState } from './state.ts'

type State = Pick<LoopState, 'step' | 'kindRecords'>

const validated = (counts: Record<string, [number, number]>): Record<string, Estimate> =>
  Object.fromEntries(
    Object.entries(counts).map(([kind, [successes, trials]]) => [kind, wilsonInterval(successes, trials)]),
  )

test('a kind that falls clearly is reported with its counts, once', () => {
  const state: State = { step: 0 }
  expect(fallenKinds(state, validated({ copy: [9, 14], read: [7, 14] }))).toEqual([])
  state.step = 25
  expect(fallenKinds(state, validated({ copy: [13, 14], read: [7, 14] }))).toEqual([])
  state.step = 50
  expect(fallenKinds(state, validated({ copy: [3, 14], read: [8, 14] }))).toEqual([
    'copy fell in validation: 3 of 14 tasks, after 13 of 14 at step 25',
  ])
  state.step = 75
  expect(fallenKinds(state, validated({ copy: [2, 14], read: [7, 14] }))).toEqual([])
})

test('a kind that recovered and falls again is reported again', () => {
  const state: State = { step: 0 }
  const [high, low] = [validated({ move: [13, 14] }), validated({ move: [2, 14] })]
  const reports = [high, low, high, low, low].map((kinds) => fallenKinds(state, kinds).length)
  expect(reports).toEqual([0, 1, 0, 1, 0])
})

test('what chance alone does is not a fall, nor are two tasks lost of two', () => {
  const state: State = { step: 0 }
  fallenKinds(state, validated({ edit: [13, 14], count: [2, 2] }))
  expect(fallenKinds(state, validated({ edit: [7, 14], count: [0, 2] }))).toEqual([])
})

test.each([0.5, 0.7, 0.9])(
  'where success stays at %d, fewer than one run in ten reports a fall',
  (success) => {
    // As in the main job: 15 kinds with 14 tasks each, 9 validations. Here even the tasks are drawn anew each time.
    const runs = 150
    let alarmed = 0
    for (let run = 0; run < runs; run++) {
      const random = createRandom(run, 'falling-kinds', success)
      const state: State = { step: 0 }
      let reports = 0
      for (let validation = 0; validation < 9; validation++)
        reports += fallenKinds(
          state,
          validated(
            Object.fromEntries(
              Array.from({ length: 15 }, (_, kind) => [
                `kind ${kind}`,
                [
                  Array.from({ length: 14 }, () => Number(random.next() < success)).reduce((a, b) => a + b),
                  14,
                ],
              ]),
            ),
          ),
        ).length
      if (reports > 0) alarmed++
    }
    expect(alarmed / runs).toBeLessThan(0.1)
  },
)
