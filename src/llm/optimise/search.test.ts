import { expect, test } from 'vitest'
import type { FileTask } from '../environment/mcp/goals/task-file.ts'
import { type AgentSetup, plainSetup, setupId } from '../setup/setup.ts'
import type { Lever, SetupTrial } from './lever.ts'
import { levers } from './levers/index.ts'
import type { ModelTraining } from './model-training.ts'
import { promiseOf as promise } from './promise.ts'
import { type AgentKnowledge, type Arm, newArm, search, withShare } from './search.ts'
import type { SetupTrials } from './setup-trials.ts'

const armWith = (state: Partial<Arm>): Arm => ({ ...newArm(levers[0], plainSetup), ...state })

const promiseOf = (arm: Arm, price = 0, expected?: number): number =>
  promise(arm, { upfront: price, price, expected })

test('a lever that has proposed nothing goes first, then the one whose last gain was large for its cost', () => {
  const untried = promiseOf(armWith({}))
  const gained = promiseOf(armWith({ round: 2, spent: 2000, lastStep: 0.4 }))
  const dear = promiseOf(armWith({ round: 2, spent: 8000, lastStep: 0.4 }))
  const found = promiseOf(armWith({ round: 2, spent: 2000, without: 2 }))
  expect(untried).toBe(Infinity)
  expect(gained).toBeGreaterThan(dear)
  expect(dear).toBeGreaterThan(found)
})

test('a lever that gained once gives way to others after some proposals without a gain', () => {
  const never = promiseOf(armWith({ round: 1, spent: 1000, without: 1 }))
  const order = [0, 1, 2, 3, 4, 5].map((without) =>
    promiseOf(armWith({ round: without + 1, spent: 1000 * (without + 1), lastStep: 0.3, without })),
  )
  expect([...order].sort((a, b) => b - a)).toEqual(order)
  expect(order[2]).toBeGreaterThan(never)
  expect(order[5]).toBeLessThan(never)
})

test('a lever that has ended without spending anything is no division by zero', () => {
  expect(promiseOf(armWith({ round: 1, spent: 0, without: 1 }))).toBe(Infinity)
  // Nor if it expects nothing.
  expect(promiseOf(armWith({ round: 1, spent: 0, without: 1 }), 0, 0)).toBe(Infinity)
})

test('a first proposal with a price waits until the cheap ones promise less', () => {
  const untrained = armWith({})
  const cheap = (without: number): number =>
    promiseOf(armWith({ round: without, spent: 500 * without, without }))
  expect(promiseOf(untrained, 3000)).toBeLessThan(cheap(1))
  expect(promiseOf(untrained, 1000)).toBeGreaterThan(cheap(8))
  // Unless it can expect much.
  expect(promiseOf(untrained, 3000, 0.5)).toBeGreaterThan(cheap(1))
})

test('a lever that knows what its next proposal may add goes by that, not by its last gain', () => {
  const gained = armWith({ round: 1, spent: 1000, lastStep: 0.4 })
  const failed = armWith({ round: 1, spent: 1000, without: 1 })
  expect(promiseOf(gained, 0, 0)).toBe(0)
  expect(promiseOf(failed, 0, 0.2)).toBeGreaterThan(promiseOf(failed))
  // A price above what its proposals have cost counts.
  expect(promiseOf(failed, 4000, 0.2)).toBeCloseTo(0.2 / 4000)
})

test('where levers share alike, a training takes no more than the part of its lever', () => {
  const known = { training: { share: () => 5000 } } as unknown as AgentKnowledge
  const share = (most: number): number => (withShare(known, () => most).training as ModelTraining).share()
  expect(share(800)).toBe(800)
  expect(share(8000)).toBe(5000)
  expect(share(Infinity)).toBe(5000)
  expect(withShare({ ...known, training: 'no local model' }, () => 800).training).toBe('no local model')
})

/** Trials in memory: each costs ten tokens, with demonstrations thirty; a setup succeeds on the first tasks, as many as its instructions say. */
function trialsInMemory(): SetupTrials {
  const wanted = new Map<string, SetupTrial>()
  const made = (setup: AgentSetup, task: FileTask): SetupTrial => {
    const success = Number(task.id) < Number(setup.instructions?.text ?? 0)
    const cost = { tokens: setup.demonstrations === undefined ? 10 : 30, dollars: 0 }
    return { setup, task, record: { task: task.id, trial: 0, success, cost } } as unknown as SetupTrial
  }
  return {
    run: (all) =>
      Promise.resolve(
        all.map(({ setup, task }) => {
          const trial = made(setup, task)
          wanted.set(`${setupId(setup)} ${task.id}`, trial)
          return trial
        }),
      ),
    known: (setup) =>
      [...wanted.values()].filter((one) => setup === undefined || setupId(one.setup) === setupId(setup)),
    cost: () => ({
      tokens: [...wanted.values()].reduce((sum, { record }) => sum + record.cost.tokens, 0),
      dollars: 0,
    }),
  }
}

/** Searches with ten training and ten selection tasks, of which a test costs a hundred trials of the setup. */
async function searchWith(budget: number, levers: readonly Lever[]) {
  const made = trialsInMemory()
  const tasks = Array.from({ length: 10 }, (_, at): FileTask => ({ id: String(at), prompt: '' }))
  await made.run(tasks.map((task) => ({ setup: plainSetup, task, trial: 0 })))
  const spent = (): number => made.cost().tokens
  const result = await search({
    levers,
    picker: 'adaptive',
    original: plainSetup,
    train: tasks,
    selection: tasks,
    before: 0,
    trials: 1,
    made,
    unit: ({ tokens }) => tokens,
    allowanceFor: (costOfTested) => budget - 100 * costOfTested,
    spent,
    costOfTrial: 10,
    knownTo: () => ({ training: { share: () => Infinity } }) as unknown as AgentKnowledge,
    onCandidate: () => undefined,
    onArm: () => undefined,
    seed: 1,
  })
  return { result, spent }
}

/** Solves one task more with each proposal. */
const steady: Lever = {
  name: 'steady',
  source: '',
  unusable: () => undefined,
  propose: ({ round }) =>
    Promise.resolve([{ setup: { schema: 1, instructions: { text: String(round + 1) } }, about: '' }]),
}

test('no lever gets more than an equal part before another that can do with one has proposed, however little that promises', async () => {
  const order: string[] = []
  const noting = (lever: Lever): Lever => ({
    ...lever,
    propose(context) {
      order.push(lever.name)
      return lever.propose(context)
    },
  })
  const dear = (tokens: number): Lever => ({
    ...steady,
    name: `price of ${tokens}`,
    upfront: () => ({ tokens, dollars: 0 }),
    expects: () => 0,
    propose: () => Promise.resolve([]),
  })
  // Of 2,000 tokens, 1,000 are for the test and 100 are spent before: an equal part is 300. A proposal costs 100 or more.
  await searchWith(2000, [steady, dear(200), dear(400)].map(noting))
  expect(order.slice(0, 2)).toEqual(['steady', 'steady'])
  expect(order.indexOf('price of 200')).toBeGreaterThan(1)
  expect(order.indexOf('price of 200')).toBeLessThan(5)
  expect(order).not.toContain('price of 400')
})

test('a training leaves what the test of the best setup so far needs, also if that is dearer than the original', async () => {
  const dear: Lever = {
    ...steady,
    name: 'dear',
    propose: ({ round }) =>
      Promise.resolve(
        round > 0
          ? []
          : [
              {
                setup: { schema: 1, instructions: { text: '8' }, demonstrations: [{ messages: [] }] },
                about: '',
              },
            ],
      ),
  }
  let share = NaN
  const training: Lever = {
    ...steady,
    name: 'training',
    upfront: () => ({ tokens: 500, dollars: 0 }),
    propose({ training: known }) {
      if (typeof known !== 'string') share = known.share()
      return Promise.resolve([])
    },
  }
  const { spent } = await searchWith(5000, [dear, training])
  // The test of the dear setup costs 3,000, and its trials on the selection tasks twice 300.
  expect(share).toBe((5000 - 3000 - 600 - spent()) / 2)
})

test('a search whose best setup solves every selection task ends, whatever is left of the budget', async () => {
  const solving: Lever = {
    ...steady,
    propose: () => Promise.resolve([{ setup: { schema: 1, instructions: { text: '10' } }, about: '' }]),
  }
  const { result, spent } = await searchWith(50_000, [solving, { ...steady, name: 'another' }])
  expect(result.stopped).toBe('the best setup solves every selection task')
  expect(result.best?.gain).toBe(1)
  expect(result.arms[1].round).toBe(0)
  expect(spent()).toBeLessThan(500)
})
