import {
  type AdventureState,
  carried,
  compass,
  type Direction,
  isCarried,
  isLocked,
  type Place,
  reachable,
  type GameMap,
  thingsAt,
} from './map.ts'

/** Commands that can be typed. Things and furniture are numbers. */
export type Command =
  | { verb: 'look' }
  | { verb: 'go'; direction: Direction }
  | { verb: 'take' | 'drop'; thing: number }
  | { verb: 'put'; thing: number; furniture: number }
  | { verb: 'open' | 'close'; furniture: number }
  | { verb: 'unlock'; thing: number }

/** The command as text, as a player types it. */
export function commandText({ things, furniture }: GameMap, command: Command): string {
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
 * Parses a command, in upper or lower case, with or without articles. Returns a sentence with the problem if it is not
 * understood.
 */
export function parseCommand(map: GameMap, text: string): Command | string {
  const words = text
    .trim()
    .toLowerCase()
    .replace(/\s+/g, ' ')
    .replace(/\b(the|a|an) /g, '')
  const thingOf = (name: string): number => map.things.indexOf(name)
  const furnitureOf = (name: string): number => map.furniture.findIndex((piece) => piece.name === name)
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
export function possibleCommands(map: GameMap, state: AdventureState): Command[] {
  const { room, open } = state
  const here = map.furniture[room]
  const hands = thingsAt(state, carried)
  const ways = compass.filter((way) => map.rooms[room].exits[way] !== undefined)
  const atDoor = ways.some((way) => isLocked(map, state, way))
  return [
    { verb: 'look' },
    ...ways
      .filter((direction) => !isLocked(map, state, direction))
      .map((direction): Command => ({ verb: 'go', direction })),
    ...reachable(map, state).map((thing): Command => ({ verb: 'take', thing })),
    ...hands.map((thing): Command => ({ verb: 'drop', thing })),
    ...(open[room] ? hands.map((thing): Command => ({ verb: 'put', thing, furniture: room })) : []),
    ...(here.container ? [{ verb: open[room] ? 'close' : 'open', furniture: room } as const] : []),
    ...(atDoor && map.door !== undefined && isCarried(state, map.door.key)
      ? [{ verb: 'unlock', thing: map.door.key } as const]
      : []),
  ]
}

interface CommandResult {
  state: AdventureState
  /** A sentence for the player. */
  said: string
}

/** Plays a command. One that is not understood or does not work changes nothing and returns a message. */
export function performText(map: GameMap, state: AdventureState, text: string): CommandResult {
  const command = parseCommand(map, text)
  return typeof command === 'string' ? { state, said: command } : perform(map, state, command)
}

export function perform(map: GameMap, state: AdventureState, command: Command): CommandResult {
  const { rooms, furniture, things, door } = map
  const no = (said: string): CommandResult => ({ state, said })
  const moved = (thing: number, place: Place, said: string): CommandResult => ({
    state: { ...state, places: state.places.map((at, k) => (k === thing ? place : at)) },
    said,
  })
  switch (command.verb) {
    case 'look':
      return no('You look around.')
    case 'go': {
      const to = rooms[state.room].exits[command.direction]
      if (to === undefined) return no('There is no way.')
      if (isLocked(map, state, command.direction)) return no('The door is locked.')
      return { state: { ...state, room: to }, said: `You go ${command.direction}.` }
    }
    case 'take': {
      const name = things[command.thing]
      if (isCarried(state, command.thing)) return no(`You carry the ${name} already.`)
      if (!reachable(map, state).includes(command.thing)) return no(`You see no ${name} here.`)
      return moved(command.thing, carried, `You take the ${name}.`)
    }
    case 'drop': {
      const name = things[command.thing]
      if (!isCarried(state, command.thing)) return no(`You carry no ${name}.`)
      return moved(command.thing, state.room, `You drop the ${name}.`)
    }
    case 'put': {
      const name = things[command.thing]
      const piece = furniture[command.furniture]
      if (!isCarried(state, command.thing)) return no(`You carry no ${name}.`)
      if (command.furniture !== state.room) return no(`There is no ${piece.name} here.`)
      if (!state.open[state.room]) return no(`The ${piece.name} is closed.`)
      const way = piece.container ? 'in' : 'on'
      return moved(command.thing, rooms.length + state.room, `You put the ${name} ${way} the ${piece.name}.`)
    }
    case 'open':
    case 'close': {
      const { name, container } = furniture[command.furniture]
      if (command.furniture !== state.room) return no(`There is no ${name} here.`)
      if (!container) return no(`The ${name} does not ${command.verb}.`)
      const open = command.verb === 'open'
      if (state.open[state.room] === open) return no(`The ${name} is ${open ? 'open' : 'closed'} already.`)
      return {
        state: { ...state, open: state.open.map((value, k) => (k === state.room ? open : value)) },
        said: `You ${command.verb} the ${name}.`,
      }
    }
    case 'unlock': {
      const name = things[command.thing]
      if (!isCarried(state, command.thing)) return no(`You carry no ${name}.`)
      if (!compass.some((way) => isLocked(map, state, way))) return no('There is no locked door here.')
      if (command.thing !== door?.key) return no(`The ${name} does not fit.`)
      return { state: { ...state, unlocked: true }, said: 'You unlock the door.' }
    }
  }
}

/** The task as a sentence. */
function questText({ things, furniture, quest, rooms }: GameMap): string {
  const { name, container } = furniture[quest.furniture]
  const where = `${container ? 'in' : 'on'} the ${name} in the ${rooms[quest.furniture].name}`
  return `Your task: put the ${things[quest.thing]} ${where}.`
}

/** Describes what the player sees: the room, its exits, its furniture, the things in it, the inventory and the task. */
export function describe(map: GameMap, state: AdventureState): string {
  const { room, open } = state
  const { name, exits } = map.rooms[room]
  const ways = compass
    .filter((way) => exits[way] !== undefined)
    .map((way) => (isLocked(map, state, way) ? `${way} (a locked door)` : way))
  const piece = map.furniture[room]
  const names = (things: number[]): string => things.map((thing) => withArticle(map.things[thing])).join(', ')
  const inside = thingsAt(state, map.rooms.length + room)
  const floor = thingsAt(state, room)
  const hands = thingsAt(state, carried)
  const shown = !open[room]
    ? `The ${piece.name} is closed.`
    : `${piece.container ? 'In' : 'On'} the ${piece.name}: ${names(inside) || 'nothing'}.`
  return [
    `You are in the ${name}. Exits: ${ways.join(', ')}.`,
    shown,
    ...(floor.length > 0 ? [`On the floor: ${names(floor)}.`] : []),
    `You carry: ${names(hands) || 'nothing'}.`,
    questText(map),
  ].join('\n')
}

const withArticle = (name: string): string => `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}`
