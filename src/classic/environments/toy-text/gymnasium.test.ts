import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { contextRow, createVectorEnvironment, numpyStream, rowSize } from '../../environment/index.ts'
import type { Context, FiniteModel, FiniteDefinition } from '../../environment/index.ts'
import { readGolden, arraysOf, unpackBytes, unpackFloats, unpackShorts } from '../fixtures/golden.ts'
import { tileLetter } from './frozen-lake-map.ts'
import {
  blackjack,
  cliffWalking,
  cliffWalkingSlippery,
  frozenLake,
  frozenLake8x8,
  frozenLakeGenerated,
  generateLake,
  taxi,
} from './index.ts'

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
  const numEnvs = arraysOf(definition, 1, context)
  const observations: number[] = []
  const rewards: number[] = []
  const masks: number[] = []
  let terminated = ''
  let length = 0
  const see = (): void => {
    definition.observe(numEnvs, 0)
    observations.push(...numEnvs.observations)
  }
  definition.reset(numEnvs, 0, random)
  see()
  for (const action of sequence.actions) {
    numEnvs.actions[0] = Number(action)
    definition.step(numEnvs, 0, random)
    see()
    rewards.push(numEnvs.rewards[0])
    terminated += numEnvs.terminated[0]
    definition.mask?.(numEnvs, 0)
    masks.push(Number.parseInt(`0${numEnvs.actionMask.join('')}`, 2))
    length++
    if (numEnvs.terminated[0] === 1 || length === sequence.limit) {
      definition.reset(numEnvs, 0, random)
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

test.each(cases)('%s %o plays as Gymnasium does, exactly', (_name, _context, definition, entry) => {
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

test.each(definitions)('$name: the slots of a vector environment do not touch each other', (definition) => {
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
    expect(three.numEnvs.state.slice(0, definition.stateSize)).toEqual(one.numEnvs.state)
    expect(three.observations.slice(0, rowSize(definition.observation))).toEqual(one.observations)
  }
  expect(contextRow(definition.context)).toHaveLength(Object.keys(definition.context).length)
})
