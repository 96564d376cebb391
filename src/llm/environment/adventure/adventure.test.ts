import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { createRandom } from '../../../engine/random/index.ts'
import { commandText, parseCommand, perform, possibleCommands } from './commands.ts'
import { adventureContext, createAdventure, planQuest } from './adventure.ts'
import type { Adventure } from './adventure.ts'
import { firstState, generateMap, isFulfilled } from './map.ts'

const observationFits = ({ observationSpace }: Adventure, text: string): boolean =>
  text.length >= observationSpace.minLength &&
  text.length <= observationSpace.maxLength &&
  text.split('').every((letter) => observationSpace.characters.includes(letter))

const contexts = fc.record({
  scene: fc.integer({ min: 0, max: 19_999 }),
  rooms: fc.integer({ min: 2, max: 10 }),
  distractors: fc.integer({ min: 0, max: 10 }),
  locked: fc.integer({ min: 0, max: 1 }),
})

test('every quest can be fulfilled: the plan, typed as text, ends the episode with reward 1 at its last command', () => {
  const game = createAdventure()
  fc.assert(
    fc.property(contexts, (context) => {
      const first = game.reset({ context })
      expect(observationFits(game, first.observation)).toBe(true)
      const plan = game.plan()
      expect(plan.length).toBeGreaterThan(1)
      // With a locked door the thing lies behind it, so that the key is needed.
      expect(plan.filter((command) => command.startsWith('unlock')).length).toBe(context.locked)
      plan.forEach((command, k) => {
        expect(game.admissible()).toContain(command)
        const { observation, reward, terminated, truncated } = game.step(command)
        expect(observationFits(game, observation)).toBe(true)
        expect([reward, terminated, truncated]).toEqual(
          k === plan.length - 1 ? [1, true, false] : [0, false, false],
        )
      })
      expect(game.admissible()).toEqual([])
      expect(() => game.step('look')).toThrow(expect.objectContaining({ code: 'reset-needed' }))
    }),
    { numRuns: 40, seed: 1 },
  )
})

test('no plan over all commands is shorter', () => {
  for (let map = 0; map < 12; map++) {
    const environment = generateMap(map, { rooms: 3, distractors: map % 2, locked: map % 3 > 0 })
    const state = firstState(environment)
    expect(planQuest(environment, state)?.length).toBe(planQuest(environment, state, true)?.length)
  }
})

test('admissible commands are understood and change the state; other commands do not', () => {
  fc.assert(
    fc.property(contexts, ({ scene: number, locked, ...size }) => {
      const map = generateMap(number, { ...size, locked: locked === 1 })
      const random = createRandom('play', number)
      let state = firstState(map)
      for (let t = 0; t < 25 && !isFulfilled(map, state); t++) {
        const possible = possibleCommands(map, state)
        for (const command of possible) {
          expect(parseCommand(map, commandText(map, command))).toEqual(command)
          const changed = perform(map, state, command).state !== state
          expect({ command, changed }).toEqual({ command, changed: command.verb !== 'look' })
        }
        const texts = new Set(possible.map((command) => commandText(map, command)))
        for (let thing = 0; thing < map.things.length; thing++) {
          for (const verb of ['take', 'drop'] as const) {
            if (texts.has(`${verb} ${map.things[thing]}`)) continue
            expect(perform(map, state, { verb, thing }).state).toBe(state)
          }
        }
        state = perform(map, state, random.pick(possible)).state
      }
    }),
    { numRuns: 20, seed: 1 },
  )
})

test('the map is consistent: every way leads back', () => {
  fc.assert(
    fc.property(contexts, ({ scene: number, locked, ...size }) => {
      const { rooms, furniture } = generateMap(number, { ...size, locked: locked === 1 })
      const back = { north: 'south', south: 'north', east: 'west', west: 'east' } as const
      rooms.forEach(({ exits }, room) => {
        for (const way of ['north', 'east', 'south', 'west'] as const) {
          const to = exits[way]
          if (to !== undefined) expect(rooms[to].exits[back[way]]).toBe(room)
        }
      })
      expect(new Set(rooms.map(({ name }) => name)).size).toBe(size.rooms)
      expect(new Set(furniture.map(({ name }) => name)).size).toBe(size.rooms)
    }),
    { numRuns: 60, seed: 1 },
  )
})

test('texts describe what the player sees and explain why a command does not work', () => {
  const game = createAdventure()
  const { observation } = game.reset({ context: { scene: 7, rooms: 4 } })
  expect(observation).toBe(
    `You are in the greenhouse. Exits: north.
On the table: a rusty key.
You carry: nothing.
Your task: put the green jar in the urn in the pantry.`,
  )
  expect(game.admissible()).toEqual(['look', 'go north', 'take rusty key'])
  const say = (command: string): string => game.step(command).observation.split('\n')[0]
  expect(say('fly away')).toBe('That is no command.')
  expect(say('take the moon')).toBe('You know no moon.')
  expect(say('Go  UP')).toBe('Go where? North, east, south or west.')
  expect(say('go west')).toBe('There is no way.')
  expect(say('open the table')).toBe('The table does not open.')
  expect(say('take green jar')).toBe('You see no green jar here.')
  expect(say('Take the Rusty Key')).toBe('You take the rusty key.')
  expect(say('unlock the door with the rusty key')).toBe('There is no locked door here.')
  expect(say('put rusty key in urn')).toBe('There is no urn here.')
  expect(say('go north')).toBe('You go north.')
  expect(say('put rusty key in urn')).toBe('The urn is closed.')
  expect(say('go north')).toBe('You go north.')
  expect(say('go east')).toBe('The door is locked.')
  expect(say('unlock door with rusty key')).toBe('You unlock the door.')
  expect(say('go east')).toBe('You go east.')
})

test('a seed gives a sequence of maps, a context one of them; limits truncate; a stored game goes on', () => {
  const maps = (seed: number): unknown[] => {
    const game = createAdventure()
    return [game.reset({ seed }), game.reset(), game.reset()].map(({ observation }) => observation)
  }
  expect(maps(1)).toEqual(maps(1))
  expect(new Set([...maps(1), ...maps(2)]).size).toBe(6)

  const game = createAdventure({ maxSteps: 3 })
  game.reset({ context: { scene: 5 } })
  game.step('look')
  const stored = game.state()
  game.step('look')
  const third = game.step('look')
  expect([third.terminated, third.truncated]).toEqual([false, true])
  const other = createAdventure({ maxSteps: 3 })
  other.restore(stored)
  other.step('look')
  expect(other.step('look')).toEqual(third)
  expect(other.reset()).toEqual(game.reset())
})

test('bad input is a typed error', () => {
  const game = createAdventure()
  expect(() => game.step('look')).toThrow(expect.objectContaining({ code: 'reset-needed' }))
  expect(() => game.reset({ context: { rooms: 1 } })).toThrow(
    expect.objectContaining({ code: 'bad-context' }),
  )
  expect(() => game.reset({ context: { castles: 1 } })).toThrow(
    expect.objectContaining({ code: 'unknown-feature' }),
  )
  game.reset()
  expect(() => game.step('')).toThrow(expect.objectContaining({ code: 'not-in-space' }))
  expect(() => game.step(3 as unknown as string)).toThrow(expect.objectContaining({ code: 'not-in-space' }))
  expect(Object.keys(adventureContext)).toEqual(['scene', 'rooms', 'distractors', 'locked'])
})
