import { createRandom, type Random } from '../../../engine/random/index.ts'

const list = (text: string): readonly string[] => text.trim().split(/\s+/)

const roomNames = list(
  `kitchen cellar attic library hall workshop pantry greenhouse parlour chapel tower stable`,
)
const supports = list(`table shelf desk bench altar stool rack counter pedestal cart ledge mantel`)
const containers = list(`chest box drawer cupboard trunk crate barrel cabinet locker urn hamper coffer`)
const colours = list(`red blue green silver golden white black brown`)
const nouns = list(`cup book coin lamp rope bell candle map ring feather spoon flute mirror dice glove jar`)
const keyNames = ['brass key', 'iron key', 'copper key', 'rusty key'] as const

export const compass = ['north', 'east', 'south', 'west'] as const
export type Direction = (typeof compass)[number]

const opposite = (direction: Direction): Direction => compass[(compass.indexOf(direction) + 2) % 4]

interface Room {
  name: string
  /** The room in that direction. */
  exits: Readonly<Partial<Record<Direction, number>>>
}

/** Each room has one piece of furniture, with the room's number. */
interface Furniture {
  name: string
  /** Containers can be closed, and are closed at first. Things lie on all other furniture. */
  container: boolean
}

/** The fixed part of an episode, and its initial state. */
export interface GameMap {
  rooms: readonly Room[]
  furniture: readonly Furniture[]
  /** Names of the things that can be carried. */
  things: readonly string[]
  /** Initial place of each thing; see `Place`. */
  places: readonly Place[]
  /** The passage that is locked from both sides until the key is used. */
  door?: { rooms: readonly [number, number]; key: number }
  start: number
  /** The quest: bring the thing to the furniture. */
  quest: { thing: number; furniture: number }
}

/** -1: carried. r: on the floor of room r. rooms + r: on or in the furniture of room r. */
export type Place = number
export const carried: Place = -1

interface MapOptions {
  /** 2 to 12. */
  rooms: number
  /** Things that the quest does not need: 0 to 20. */
  distractors: number
  locked: boolean
}

/**
 * Draws the map of a number: rooms without loops, each with one piece of furniture. If a door is locked, the thing of
 * the quest lies behind it and the key in front of it, so the quest can always be fulfilled.
 */
export function generateMap(map: number, { rooms: count, distractors, locked }: MapOptions): GameMap {
  const random = createRandom('adventure', map)
  const names = random.shuffle(roomNames)
  const { exits, parents } = growMap(count, random)
  const furniture = random
    .shuffle(supports.map((_, k) => k))
    .slice(0, count)
    .map((k): Furniture => {
      const container = random.int(2) === 1
      return { name: (container ? containers : supports)[k], container }
    })
  const start = random.int(count)

  // Removing the passage between a room and its parent splits the map in two. The far side is the one without the
  // start.
  const cut = 1 + random.int(count - 1)
  const far = Array.from({ length: count }, (_, room) => isBelow(room, cut, parents))
  const farIsBelow = !far[start]
  const beyond = far.flatMap((below, room) => (below === farIsBelow ? [room] : []))
  const before = far.flatMap((below, room) => (below === farIsBelow ? [] : [room]))

  const anywhere = Array.from({ length: count }, (_, room) => room)
  const placeIn = (choice: readonly number[]): Place => random.pick(choice) + count * random.int(2)
  const goods = random.shuffle(nouns).slice(0, distractors + 1)
  const things = goods.map((noun) => `${random.pick(colours)} ${noun}`)
  const places = things.map((_, thing) => placeIn(thing === 0 && locked ? beyond : anywhere))
  const target = random.pick(anywhere.filter((room) => places[0] !== count + room))
  if (locked) {
    things.push(random.pick(keyNames))
    places.push(placeIn(before))
  }
  return {
    rooms: exits.map((ways, room) => ({ name: names[room], exits: ways })),
    furniture,
    things,
    places,
    ...(locked ? { door: { rooms: [cut, parents[cut]], key: things.length - 1 } as const } : {}),
    start,
    quest: { thing: 0, furniture: target },
  }
}

type Exits = Partial<Record<Direction, number>>

/** Places rooms on a grid, each next to an existing one. */
function growMap(count: number, random: Random): { exits: Exits[]; parents: number[] } {
  const spots: (readonly [number, number])[] = [[0, 0]]
  const exits: Exits[] = [{}]
  const parents = [-1]
  while (spots.length < count) {
    const from = random.int(spots.length)
    const way = random.int(4)
    const spot = [spots[from][0] + [0, 1, 0, -1][way], spots[from][1] + [-1, 0, 1, 0][way]] as const
    if (spots.some(([x, y]) => x === spot[0] && y === spot[1])) continue
    exits[from][compass[way]] = spots.length
    exits.push({ [opposite(compass[way])]: from })
    parents.push(from)
    spots.push(spot)
  }
  return { exits, parents }
}

function isBelow(room: number, ancestor: number, parents: readonly number[]): boolean {
  for (let at = room; at >= 0; at = parents[at]) if (at === ancestor) return true
  return false
}

/** The part of an episode that changes. */
export interface AdventureState {
  room: number
  /** Place of each thing. */
  places: readonly Place[]
  /**
   * For each piece of furniture, whether its contents can be seen and reached. Always true for furniture that cannot
   * close.
   */
  open: readonly boolean[]
  unlocked: boolean
}

export const firstState = (map: GameMap): AdventureState => ({
  room: map.start,
  places: map.places,
  open: map.furniture.map(({ container }) => !container),
  unlocked: map.door === undefined,
})

export const isCarried = (state: AdventureState, thing: number): boolean => state.places[thing] === carried

/** The things at a place. */
export const thingsAt = (state: AdventureState, place: Place): number[] =>
  state.places.flatMap((at, thing) => (at === place ? [thing] : []))

/** The things in the room that can be taken. */
export function reachable({ rooms }: GameMap, state: AdventureState): number[] {
  const { room, open } = state
  return [...thingsAt(state, room), ...(open[room] ? thingsAt(state, rooms.length + room) : [])]
}

/** True if the passage is the locked one. */
export function isLocked(map: GameMap, state: AdventureState, direction: Direction): boolean {
  const to = map.rooms[state.room].exits[direction]
  if (state.unlocked || map.door === undefined || to === undefined) return false
  return map.door.rooms.includes(to) && map.door.rooms.includes(state.room)
}

export const isFulfilled = ({ rooms, quest }: GameMap, { places }: AdventureState): boolean =>
  places[quest.thing] === rooms.length + quest.furniture
