import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import {
  type Context,
  contextRow,
  createVectorEnvironment,
  type EnvironmentDefinition,
  fastStream,
  type FiniteDefinition,
  finiteEnvironment,
  type FiniteModel,
  numpyStream,
  rowSize,
} from '../../environment/index.ts'
import { arraysOf, readGolden, unpackBytes, unpackFloats, unpackShorts } from '../testing/golden.ts'
import { blackjack, blackjackState } from './blackjack.ts'
import { cliffWalking, cliffWalkingSlippery } from './cliff-walking.ts'
import {
  frozenLake,
  frozenLake8x8,
  frozenLakeGenerated,
  frozenLakeOf,
  generateLake,
  readLake,
  tileLetter,
} from './frozen-lake.ts'
import { taxi } from './taxi.ts'

/** The value of the best play over `horizon` steps from the start. */
function optimum(
  { states, actions, start, offsets, probabilities, next, rewards, terminated }: FiniteModel,
  horizon: number,
): number {
  let value = new Float64Array(states)
  for (let t = 0; t < horizon; t++) {
    const before = value
    value = new Float64Array(states).fill(-Infinity)
    for (let pair = 0; pair < states * actions; pair++) {
      let q = 0
      for (let row = offsets[pair]; row < offsets[pair + 1]; row++)
        q += probabilities[row] * (rewards[row] + (terminated[row] === 1 ? 0 : before[next[row]]))
      const state = Math.floor(pair / actions)
      value[state] = Math.max(value[state], q)
    }
  }
  return start.reduce((sum, chance, state) => sum + chance * value[state], 0)
}

test('the optimal values of the models equal those of the reference', () => {
  expect(optimum(frozenLake.transitions(), 100)).toBeCloseTo(0.7442, 4)
  expect(optimum(frozenLake8x8.transitions(), 200)).toBeCloseTo(0.9132, 4)
  expect(optimum(taxi.transitions(), 200)).toBeCloseTo(7.93, 2)
  expect(optimum(cliffWalking.transitions(), 200)).toBe(-13)
  expect(optimum(cliffWalkingSlippery.transitions(), 1000)).toBeCloseTo(-64.71, 2)
})

/** Random play of two environments with the same numbers: their observations, rewards and ends. */
function randomPlay(definition: EnvironmentDefinition, context = {}): string {
  const envs = arraysOf(definition, 1, context)
  const random = numpyStream(5)
  const choice = fastStream('policy', 5)
  const actions = definition.action.type === 'discrete' ? definition.action.n : 0
  const log: (string | number)[] = []
  definition.reset(envs, 0, random)
  for (let t = 0; t < 2000; t++) {
    definition.observe(envs, 0)
    envs.actions[0] = choice.integers(actions)
    log.push(envs.observations[0], envs.actions[0])
    definition.step(envs, 0, random)
    log.push(envs.rewards[0], envs.terminated[0])
    if (envs.terminated[0] === 1) definition.reset(envs, 0, random)
  }
  return log.join()
}

test.each([
  [frozenLake, { successRate: 0.55, holeReward: -1 }],
  [frozenLakeGenerated, { layout: 9, frozenRate: 0.7 }],
  [cliffWalking, { slip: 0.5, lastColumn: 7 }],
  [taxi, { forwardRate: 0.75 }],
] as const)('$name, sampled from its model, plays as the environment does', (definition, context) => {
  const sampled = finiteEnvironment('sampled', definition.transitions(context))
  expect(randomPlay(sampled)).toBe(randomPlay(definition, context))
})

test('with a fickle passenger there is no model over the observations', () => {
  expect(() => taxi.transitions({ fickleRate: 0.1 })).toThrow(expect.objectContaining({ code: 'no-model' }))
})

test('a fickle passenger changes the destination once, on the first move aboard', () => {
  const envs = arraysOf(taxi, 1, { fickleRate: 1 })
  const random = fastStream('fickle')
  taxi.reset(envs, 0, random)
  expect(envs.state[1]).toBe(1)
  envs.state[0] = 16 + 2 // at R, aboard, to Y
  const move = (action: number): number => {
    envs.actions[0] = action
    taxi.step(envs, 0, random)
    return envs.state[0] % 4
  }
  expect(move(1)).toBe(2) // a wall: no move, no change
  const other = move(0)
  expect(other).not.toBe(2)
  expect([move(0), move(1), move(0)]).toEqual([other, other, other])
})

test('custom maps work, also with several starts', () => {
  const lake = frozenLakeOf('two-starts', ['SFS', 'HHG'])
  const envs = arraysOf(lake)
  const random = fastStream('starts')
  const starts = [0, 0, 0]
  for (let n = 0; n < 300; n++) {
    lake.reset(envs, 0, random)
    starts[envs.state[0]]++
  }
  expect(starts[1]).toBe(0)
  expect(Math.abs(starts[0] - 150)).toBeLessThan(40)
  expect(Array.from(lake.transitions().start)).toEqual([0.5, 0, 0.5, 0, 0, 0])
  expect(lake.text?.(envs, 0)).toMatch(/^(@FS|SF@)\nHHG$/)
})

test.each([[['SFF', 'FG']], [['SXG']], [['FFG']]])('the map %j is refused', (map) => {
  expect(() => readLake(map)).toThrow(expect.objectContaining({ code: 'bad-map' }))
})

test('a generated lake changes if and only if the layout changes', () => {
  const envs = arraysOf(frozenLakeGenerated, 1, { layout: 3 })
  const random = fastStream('layouts')
  frozenLakeGenerated.reset(envs, 0, random)
  const third = envs.state.slice(3)
  envs.state[3] = 9 // what is there is kept where the layout is the same
  frozenLakeGenerated.reset(envs, 0, random)
  expect(envs.state[3]).toBe(9)
  envs.context.layout[0] = 4
  frozenLakeGenerated.reset(envs, 0, random)
  expect(envs.state.slice(3)).not.toEqual(third)
})

test('frames render as text', () => {
  const envs = arraysOf(taxi)
  envs.state[0] = ((2 * 5 + 1) * 5 + 3) * 4
  expect(taxi.text?.(envs, 0)).toBe(
    '+---------+\n|R: | : :G|\n| : | : : |\n| :T: : : |\n| | : | : |\n|Y| : |B: |\n+---------+\npassenger at B, to R',
  )
  const cliff = arraysOf(cliffWalking)
  cliff.state[0] = 25
  expect(cliffWalking.text?.(cliff, 0).split('\n').slice(2)).toEqual(['.@..........', 'SCCCCCCCCCCG'])
})

test.each([{}, { naturalWins: 0, naturalReward: 1.5 }, { tens: 1, dealerStands: 18 }])(
  'the model of blackjack with %o predicts the mean return of sampled episodes',
  (context) => {
    const { start, offsets, probabilities, next, rewards, terminated } = blackjack.transitions(context)
    // Hits below 17, else sticks. Sums only grow but for soft aces, so a few sweeps settle the values.
    const hits = (sum: number): boolean => sum < 17
    const value = new Float64Array(start.length)
    for (let sweep = 0; sweep < 40; sweep++) {
      for (let state = 0; state < value.length; state++) {
        const pair = state * 2 + (hits(Math.floor(state / 44)) ? 1 : 0)
        value[state] = 0
        for (let row = offsets[pair]; row < offsets[pair + 1]; row++)
          value[state] += probabilities[row] * (rewards[row] + (terminated[row] === 1 ? 0 : value[next[row]]))
      }
    }
    const exact = start.reduce((sum, chance, state) => sum + chance * value[state], 0)

    const envs = arraysOf(blackjack, 1, context)
    const random = fastStream('blackjack')
    const episodes = 60_000
    let [sum, squares] = [0, 0]
    for (let n = 0; n < episodes; n++) {
      blackjack.reset(envs, 0, random)
      do {
        blackjack.observe(envs, 0)
        envs.actions[0] = hits(envs.observations[0]) ? 1 : 0
        blackjack.step(envs, 0, random)
      } while (envs.terminated[0] === 0)
      sum += envs.rewards[0]
      squares += envs.rewards[0] ** 2
    }
    const mean = sum / episodes
    const error = Math.sqrt((squares / episodes - mean * mean) / episodes)
    expect(Math.abs(mean - exact)).toBeLessThan(3.5 * error)
    expect(blackjackState(21, 10, 1, 1)).toBeLessThan(start.length)
  },
)

test('the optimal policy of blackjack equals Sutton & Barto, figure 5.2', () => {
  const { offsets, probabilities, next, rewards, terminated, states } = blackjack.transitions()
  const value = new Float64Array(states)
  const q = (pair: number): number => {
    let sum = 0
    for (let row = offsets[pair]; row < offsets[pair + 1]; row++)
      sum += probabilities[row] * (rewards[row] + (terminated[row] === 1 ? 0 : value[next[row]]))
    return sum
  }
  for (let sweep = 0; sweep < 40; sweep++)
    for (let state = 0; state < states; state++) value[state] = Math.max(q(state * 2), q(state * 2 + 1))
  /** The lowest sum at which it sticks, for each card of the dealer from ace to ten. */
  const sticks = (ace: 0 | 1): number[] =>
    Array.from({ length: 10 }, (_, k) => {
      for (let sum = ace === 1 ? 12 : 11; sum <= 21; sum++) {
        const pair = blackjackState(sum, k + 1, ace, 0) * 2
        if (q(pair) > q(pair + 1)) return sum
      }
      return 22
    })
  expect(sticks(0)).toEqual([17, 13, 13, 12, 12, 12, 17, 17, 17, 17])
  expect(sticks(1)).toEqual([19, 18, 18, 18, 18, 18, 18, 18, 19, 19])
})

interface Sequence {
  seed: number
  limit: number | null
  actions: string
  observations: string
  rewards: string
  terminated: string
  masks?: string
}
interface ModelDigests extends Record<string, number | string> {
  states: number
  actions: number
  rows: number
}
interface Entry {
  context: Context
  sequence: Sequence
  model?: ModelDigests
}

const golden = readGolden('toy_text') as { maps: Record<string, string> } & Record<string, unknown>
const definitions = [
  frozenLake,
  frozenLake8x8,
  frozenLakeGenerated,
  cliffWalking,
  cliffWalkingSlippery,
  taxi,
  blackjack,
]
const cases = definitions.flatMap((definition) =>
  (golden[definition.name] as Entry[]).map(
    (entry) => [definition.name, entry.context, definition, entry] as const,
  ),
)

/** Plays the recorded actions from reset(seed) with NumPy's generator. */
function play(
  definition: FiniteDefinition,
  { context, sequence }: Entry,
): Omit<Sequence, 'seed' | 'limit' | 'actions'> & object {
  const random = numpyStream(sequence.seed)
  const envs = arraysOf(definition, 1, context)
  const observations: number[] = []
  const rewards: number[] = []
  const masks: number[] = []
  let terminated = ''
  let length = 0
  const see = (): void => {
    definition.observe(envs, 0)
    observations.push(...envs.observations)
  }
  definition.reset(envs, 0, random)
  see()
  for (const action of sequence.actions) {
    envs.actions[0] = Number(action)
    definition.step(envs, 0, random)
    see()
    rewards.push(envs.rewards[0])
    terminated += envs.terminated[0]
    definition.mask?.(envs, 0)
    masks.push(Number.parseInt(`0${envs.actionMask.join('')}`, 2))
    length++
    if (envs.terminated[0] === 1 || length === sequence.limit) {
      definition.reset(envs, 0, random)
      see()
      length = 0
    }
  }
  return {
    observations: observations.join(),
    rewards: rewards.join(),
    terminated,
    ...(definition.mask === undefined ? {} : { masks: masks.join() }),
  }
}

test.each(cases)('%s %o equals Gymnasium step for step', (_name, _context, definition, entry) => {
  const { observations, rewards, terminated, masks } = entry.sequence
  expect(play(definition, entry)).toEqual({
    observations: unpackShorts(observations).join(),
    rewards: Array.from(unpackFloats(rewards)).join(),
    terminated,
    ...(masks === undefined ? {} : { masks: unpackBytes(masks).join() }),
  })
  expect(terminated).toMatch(/1/)
})

function digests(model: FiniteModel): ModelDigests {
  const digest = (array: ArrayBufferView): string =>
    createHash('sha256')
      .update(new Uint8Array(array.buffer, array.byteOffset, array.byteLength))
      .digest('hex')
      .slice(0, 16)
  return {
    states: model.states,
    actions: model.actions,
    rows: model.next.length,
    start: digest(model.start),
    offsets: digest(model.offsets),
    probabilities: digest(model.probabilities),
    next: digest(model.next),
    rewards: digest(model.rewards),
    terminated: digest(model.terminated),
  }
}

test.each(cases.filter(([, { fickleRate = 0 }, , { model }]) => model !== undefined && fickleRate === 0))(
  '%s %o has the transition table of Gymnasium, bit for bit',
  (_name, context, definition, entry) => {
    expect(digests(definition.transitions(context))).toEqual(entry.model)
  },
)

test.each(Object.entries(golden.maps))('the generated map of size, rate and seed %s', (key, map) => {
  const [size, rate, seed] = key.split(' ').map(Number)
  expect(Array.from(generateLake(size, rate, seed), tileLetter).join('')).toBe(map)
})

test.each(definitions)('$name: environments of a vector are independent', (definition) => {
  const contextFor = (envIndex: number, episode: number): Context =>
    definition === frozenLakeGenerated ? { layout: envIndex === 0 ? episode : 7 } : {}
  const options = { seed: 3, maxSteps: 30, contextFor }
  const three = createVectorEnvironment(definition, { ...options, numEnvs: 3 })
  const one = createVectorEnvironment(definition, { ...options, numEnvs: 1 })
  three.reset()
  one.reset()
  for (let t = 0; t < 200; t++) {
    const action = ((t * 7) % 5) % (definition === blackjack ? 2 : 4)
    three.actions.fill(1)
    three.actions[0] = action
    one.actions[0] = action
    three.step()
    one.step()
    expect(three.envs.state.slice(0, definition.stateSize)).toEqual(one.envs.state)
    expect(three.observations.slice(0, rowSize(definition.observation))).toEqual(one.observations)
  }
  expect(contextRow(definition.context)).toHaveLength(Object.keys(definition.context).length)
})
