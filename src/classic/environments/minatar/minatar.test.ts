import { expect, test } from 'vitest'
import { type EnvironmentDefinition, numpyStream, rowSize } from '../../environment/index.ts'
import { arraysOf, readGolden, unpackBytes, unpackShorts } from '../testing/golden.ts'
import { asterix } from './asterix.ts'
import { breakout } from './breakout.ts'
import { freeway } from './freeway.ts'
import { seaquest } from './seaquest.ts'
import { moves } from './shared.ts'
import { spaceInvaders } from './space-invaders.ts'

interface Play {
  seed: number
  stickiness: number
  ramping: number
  actions: string
  digests: string
  rewards: string
  ends: string
}

const games = [asterix, breakout, freeway, seaquest, spaceInvaders]
const golden = readGolden('minatar') as Record<string, Play[]>
const plays = games.flatMap((game) =>
  golden[game.name.replace('minatar-', '')].map((play) => [game.name, play.seed, game, play] as const),
)

/** The sum that `make_minatar.py` stores of an observation. */
function digest(observation: Float32Array): number {
  let total = 0
  observation.forEach((value, index) => {
    if (value === 1) total = (total * 31 + index + 1) % 65521
  })
  return total
}

test.each(plays)('%s, seed %i: each step equals that of the reference', (_name, seed, game, play) => {
  const context = { stickiness: play.stickiness, ...('ramping' in game.context && { ramping: play.ramping }) }
  const definition: EnvironmentDefinition = game
  const envs = arraysOf(definition, 1, context)
  const random = numpyStream(seed)
  const [actions, rewards, ends] = [play.actions, play.rewards, play.ends].map(unpackBytes)
  const digests = new Uint16Array(unpackShorts(play.digests).buffer)
  let shown = 0
  const compare = (step: number): void => {
    definition.observe(envs, 0)
    const found = digest(envs.observations)
    if (found !== digests[shown++]) expect.fail(`step ${step}: another observation\n${game.text?.(envs, 0)}`)
  }
  definition.reset(envs, 0, random)
  compare(-1)
  for (let step = 0; step < actions.length; step++) {
    envs.actions[0] = actions[step]
    definition.step(envs, 0, random)
    if (envs.rewards[0] !== rewards[step] || envs.terminated[0] !== ends[step])
      expect([step, envs.rewards[0], envs.terminated[0]]).toEqual([step, rewards[step], ends[step]])
    compare(step)
    if (ends[step] === 0) continue
    definition.reset(envs, 0, random)
    compare(step)
  }
  expect(shown).toBe(digests.length)
})

test('the reference plays go far: rewards, ends and levels of difficulty', () => {
  for (const [name, list] of Object.entries(golden)) {
    const rewards = list.map(({ rewards }) => unpackBytes(rewards).reduce((sum, value) => sum + value, 0))
    const ends = list.map(({ ends }) => unpackBytes(ends).reduce((sum, value) => sum + value, 0))
    expect({ name, rewards: rewards[0] > 10, ends: ends[0] > 0 }).toEqual({ name, rewards: true, ends: true })
  }
})

test.each(games.map((game) => [game.name, game] as const))('%s shows only zeros and ones', (_, game) => {
  const definition: EnvironmentDefinition = game
  const envs = arraysOf(definition, 2)
  const random = numpyStream(8)
  for (const i of [0, 1]) definition.reset(envs, i, random)
  for (let step = 0; step < 500; step++) {
    const i = step % 2
    envs.actions[i] = random.integers(6)
    definition.step(envs, i, random)
    if (envs.terminated[i] === 1) definition.reset(envs, i, random)
    definition.observe(envs, i)
    const size = rowSize(definition.observation)
    expect(envs.observations.length).toBe(2 * size)
    expect(envs.observations.every((value) => value === 0 || value === 1)).toBe(true)
  }
})

test('a frame shows where everything is', () => {
  const definition: EnvironmentDefinition = breakout
  const envs = arraysOf(definition, 1, { stickiness: 0 })
  const random = numpyStream(1)
  definition.reset(envs, 0, random)
  envs.actions[0] = moves.right
  definition.step(envs, 0, random)
  const rows = definition.text?.(envs, 0).split('\n') ?? []
  expect(rows.map((row) => row.length)).toEqual(Array.from({ length: 10 }, () => 10))
  expect(rows.slice(1, 3)).toEqual(['##########', '##########'])
  expect(rows[9]).toBe('.....=....')
  expect(rows[4]).toMatch(/^\.o\.{8}$|^\.{8}o\.$/)
})
