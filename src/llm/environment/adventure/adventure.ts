import { createRandom } from '../../../engine/random/index.ts'
import { AgogeError } from '../../../error.ts'
import type { Command } from './commands.ts'
import { commandText, describe, perform, performText, possibleCommands } from './commands.ts'
import type { AdventureState, GameMap } from './map.ts'
import { firstState, generateMap, isFulfilled } from './map.ts'

interface Node {
  state: AdventureState
  parent: Node | null
  command: Command | null
}

/**
 * Whether a command can be part of a shortest plan. The player can carry everything, so nothing else needs to be moved.
 */
function mayHelp({ rooms, quest, door }: GameMap, { places }: AdventureState, command: Command): boolean {
  switch (command.verb) {
    case 'go':
    case 'unlock':
      return true
    case 'open': {
      const inside = rooms.length + command.furniture
      const holdsKey = door !== undefined && places[door.key] === inside
      return command.furniture === quest.furniture || places[quest.thing] === inside || holdsKey
    }
    case 'take':
      return command.thing === quest.thing || command.thing === door?.key
    case 'put':
      return command.thing === quest.thing && command.furniture === quest.furniture
    default:
      return false
  }
}

/**
 * Finds the fewest commands from a state to the fulfilled quest by breadth-first search (an oracle). Returns `null` if
 * there is no way.
 *
 * @param all searches all commands, not only those that can help.
 */
export function planQuest(map: GameMap, from: AdventureState, all = false): Command[] | null {
  const keyOf = ({ room, places, open, unlocked }: AdventureState): string =>
    [room, places.join(), open.map(Number).join(''), unlocked].join(';')
  let frontier: Node[] = [{ state: from, parent: null, command: null }]
  const seen = new Set([keyOf(from)])
  while (frontier.length > 0) {
    const next: Node[] = []
    for (const node of frontier) {
      if (isFulfilled(map, node.state)) return commandsTo(node)
      for (const command of possibleCommands(map, node.state)) {
        if (!all && !mayHelp(map, node.state, command)) continue
        const { state } = perform(map, node.state, command)
        const key = keyOf(state)
        if (seen.has(key)) continue
        seen.add(key)
        next.push({ state, parent: node, command })
      }
    }
    frontier = next
  }
  return null
}

function commandsTo(end: Node): Command[] {
  const commands: Command[] = []
  for (let node: Node | null = end; node !== null; node = node.parent)
    if (node.command !== null) commands.unshift(node.command)
  return commands
}

const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ'

export const adventureContext = {
  scene: {
    default: 0,
    low: 0,
    high: 9999,
    extrapolate: [0, 19_999],
    integer: true,
    about: 'number from which map, things and quest are generated',
  },
  rooms: { default: 5, low: 3, high: 6, extrapolate: [2, 10], integer: true, about: 'rooms on the map' },
  distractors: {
    default: 3,
    low: 1,
    high: 5,
    extrapolate: [0, 10],
    integer: true,
    about: 'things that the quest does not need',
  },
  locked: { default: 1, low: 0, high: 1, integer: true, about: '1: a locked door lies in the way' },
} as const

export interface AdventureOptions {
  /** Commands after which an episode is truncated. Default: 50. */
  maxSteps?: number
  /** Seed of the stream of maps until `reset` gives another. Default: 0. */
  seed?: number
}

interface Text {
  type: 'text'
  minLength: number
  maxLength: number
  characters: string
}

/** Values of features of `adventureContext` by name. The others have their defaults. */
export type AdventureContext = Partial<Readonly<Record<string, number>>>

/**
 * A Gymnasium-style environment whose observations and actions are texts. It matches `Environment` of `agoge/classic`.
 */
export interface Adventure {
  readonly name: string
  readonly observationSpace: Text
  readonly actionSpace: Text
  reset(options?: { seed?: number; context?: AdventureContext }): { observation: string }
  step(action: string): { observation: string; reward: number; terminated: boolean; truncated: boolean }
  readonly contextSpace: typeof adventureContext
  /** Commands after which an episode is truncated. */
  readonly maxSteps: number
  /** The commands that would change something now, and `look`. `step` accepts each of them. */
  admissible(): string[]
  /** The fewest commands that fulfil the quest from here (an oracle). Empty when the quest is fulfilled. */
  plan(): string[]
  /** Map and state, for judges. */
  map(): GameMap
  state(): unknown
  restore(state: unknown): void
}

interface Play {
  map: GameMap
  state: AdventureState
  steps: number
  over: boolean
}

/**
 * Makes a small text adventure: rooms, furniture, things, sometimes a locked door, and one quest. The quest is to bring
 * a thing to a place; fulfilling it gives reward 1 and ends the episode. Each observation describes everything the
 * player can see, and the task. A command that is not understood uses a step and returns a message.
 *
 * The context feature `scene` determines the whole map. If a reset gives no `scene`, it is drawn from the stream of the
 * seed.
 *
 * @throws AgogeError from `step`: `reset-needed`, or `not-in-space` for an action that is not a text of the action
 * space.
 */
export function createAdventure({ maxSteps = 50, seed: firstSeed = 0 }: AdventureOptions = {}): Adventure {
  const name = 'adventure'
  let random = createRandom(name, firstSeed)
  let play: Play | undefined

  const actionSpace: Text = { type: 'text', minLength: 1, maxLength: 60, characters: `${letters} ` }
  const observationSpace: Text = {
    type: 'text',
    minLength: 1,
    maxLength: 1000,
    characters: `${letters} \n.,:?()`,
  }

  function current(): Play {
    if (play !== undefined) return play
    throw new AgogeError(`${name} was used before it was reset`, {
      code: 'reset-needed',
      hint: 'call reset() first',
    })
  }

  return {
    name,
    observationSpace,
    actionSpace,
    contextSpace: adventureContext,
    maxSteps,
    reset({ seed, context = {} } = {}) {
      if (seed !== undefined) random = createRandom(name, seed)
      const features = readFeatures({ scene: random.int(adventureContext.scene.high + 1), ...context })
      const map = generateMap(features.scene, { ...features, locked: features.locked === 1 })
      play = { map, state: firstState(map), steps: 0, over: false }
      return { observation: describe(map, play.state) }
    },
    step(action) {
      const { map, state, steps, over } = current()
      if (over) {
        throw new AgogeError(`the episode of ${name} is over`, {
          code: 'reset-needed',
          hint: 'call reset() first',
        })
      }
      const played = playCommand(map, state, action)
      const truncated = steps + 1 >= maxSteps
      play = { map, state: played.state, steps: steps + 1, over: played.terminated || truncated }
      const { observation, terminated } = played
      return { observation, reward: terminated ? 1 : 0, terminated, truncated }
    },
    admissible() {
      const { map, state, over } = current()
      return over ? [] : possibleCommands(map, state).map((command) => commandText(map, command))
    },
    plan() {
      const { map, state } = current()
      return (planQuest(map, state) ?? []).map((command) => commandText(map, command))
    },
    map: () => current().map,
    state: () => structuredClone({ play, random: random.state() }),
    restore(stored) {
      const from = structuredClone(stored) as {
        play: Play | undefined
        random: ReturnType<typeof random.state>
      }
      play = from.play
      random.restore(from.random)
    },
  }
}

/**
 * Plays one command. Returns what the player sees, and whether the quest is fulfilled.
 *
 * @throws AgogeError `not-in-space`.
 */
export function playCommand(
  map: GameMap,
  state: AdventureState,
  action: string,
): { state: AdventureState; observation: string; terminated: boolean } {
  if (typeof action !== 'string' || !/^[A-Za-z ]{1,60}$/.test(action)) {
    throw new AgogeError(
      `the command ${JSON.stringify(action)} is not in the action space of the adventure`,
      { code: 'not-in-space', given: action, expected: 'a text of 1 to 60 letters and spaces' },
    )
  }
  const outcome = performText(map, state, action)
  const terminated = isFulfilled(map, outcome.state)
  const said = terminated ? `${outcome.said} You have fulfilled your task.` : outcome.said
  return { state: outcome.state, observation: `${said}\n${describe(map, outcome.state)}`, terminated }
}

type Features = Record<keyof typeof adventureContext, number>

/**
 * Fills in the defaults of the features.
 *
 * @throws AgogeError `unknown-feature` or `bad-context`.
 */
function readFeatures(context: AdventureContext): Features {
  for (const name of Object.keys(context)) {
    if (Object.hasOwn(adventureContext, name)) continue
    throw new AgogeError(`the adventure has no context feature ${name}`, {
      code: 'unknown-feature',
      given: name,
      expected: `one of ${Object.keys(adventureContext).join(', ')}`,
    })
  }
  const limits: Features = { scene: Infinity, rooms: 12, distractors: 15, locked: 1 }
  const entries = Object.entries(adventureContext).map(([name, feature]): [string, number] => {
    const value = context[name] ?? feature.default
    const low = name === 'rooms' ? 2 : 0
    const high = limits[name as keyof Features]
    if (Number.isInteger(value) && value >= low && value <= high) return [name, value]
    throw new AgogeError(`the context feature ${name} of the adventure is out of range`, {
      code: 'bad-context',
      given: value,
      expected: `a whole number from ${low} to ${high}`,
    })
  })
  return Object.fromEntries(entries) as Features
}
