import { carried, compass } from './scene.ts'
import type { Direction, Scene } from './scene.ts'
import { isCarried, isLocked, reachable, thingsAt } from './state.ts'
import type { AdventureState } from './state.ts'

/** What can be told to the player; things and furniture by number. */
export type Command =
  | { verb: 'look' }
  | { verb: 'go'; direction: Direction }
  | { verb: 'take' | 'drop'; thing: number }
  | { verb: 'put'; thing: number; furniture: number }
  | { verb: 'open' | 'close'; furniture: number }
  | { verb: 'unlock'; thing: number }

/** A command as text, as it is typed. */
export function commandText({ things, furniture }: Scene, command: Command): string {
  switch (command.verb) {
    case 'look':
      return 'look'
    case 'go':
      return `go ${command.direction}`
    case 'take':
    case 'drop':
      return `${command.verb} ${things[command.thing]}`
    case 'put': {
      const { name, container } = furniture[command.furniture]
      return `put ${things[command.thing]} ${container ? 'in' : 'on'} ${name}`
    }
    case 'open':
    case 'close':
      return `${command.verb} ${furniture[command.furniture].name}`
    case 'unlock':
      return `unlock door with ${things[command.thing]}`
  }
}

/**
 * The command of a text, in small or capital letters, with or without articles; a sentence that says what is wrong where
 * there is none.
 */
export function parseCommand(scene: Scene, text: string): Command | string {
  const words = text
    .trim()
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .replace(/\b(the|a|an) /g, '')
  const thingOf = (name: string): number => scene.things.indexOf(name)
  const furnitureOf = (name: string): number => scene.furniture.findIndex((piece) => piece.name === name)
  if (words === 'look') return { verb: 'look' }
  const [verb, rest = ''] = words.split(/ (.*)/s)
  switch (verb) {
    case 'go': {
      const direction = compass.find((way) => way === rest)
      return direction === undefined ? 'Go where? North, east, south or west.' : { verb, direction }
    }
    case 'take':
    case 'drop': {
      const thing = thingOf(rest)
      return thing < 0 ? `You know no ${rest}.` : { verb, thing }
    }
    case 'put': {
      const [name, place = ''] = rest.split(/ (?:on|in) /)
      const [thing, furniture] = [thingOf(name), furnitureOf(place)]
      if (thing < 0) return `You know no ${name}.`
      return furniture < 0 ? 'Put it on or in what?' : { verb, thing, furniture }
    }
    case 'open':
    case 'close': {
      const furniture = furnitureOf(rest)
      return furniture < 0 ? `You know no ${rest}.` : { verb, furniture }
    }
    case 'unlock': {
      const thing = thingOf(rest.replace(/^door with /, ''))
      return thing < 0 ? 'Unlock the door with what?' : { verb, thing }
    }
    default:
      return 'That is no command.'
  }
}

/** All commands that would change something now, and `look`. */
export function possibleCommands(scene: Scene, state: AdventureState): Command[] {
  const { room, open } = state
  const here = scene.furniture[room]
  const hands = thingsAt(state, carried)
  const ways = compass.filter((way) => scene.rooms[room].exits[way] !== undefined)
  const atDoor = ways.some((way) => isLocked(scene, state, way))
  return [
    { verb: 'look' },
    ...ways
      .filter((direction) => !isLocked(scene, state, direction))
      .map((direction): Command => ({ verb: 'go', direction })),
    ...reachable(scene, state).map((thing): Command => ({ verb: 'take', thing })),
    ...hands.map((thing): Command => ({ verb: 'drop', thing })),
    ...(open[room] ? hands.map((thing): Command => ({ verb: 'put', thing, furniture: room })) : []),
    ...(here.container ? [{ verb: open[room] ? 'close' : 'open', furniture: room } as const] : []),
    ...(atDoor && scene.door !== undefined && isCarried(state, scene.door.key)
      ? [{ verb: 'unlock', thing: scene.door.key } as const]
      : []),
  ]
}
