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
  /** The room that lies that way. */
  exits: Readonly<Partial<Record<Direction, number>>>
}

/** One piece stands in each room, with the room's number. */
interface Furniture {
  name: string
  /** Containers can be closed, and are so at first; things lie on all others. */
  container: boolean
}

/** What does not change in an episode, and how it begins. */
export interface GameMap {
  rooms: readonly Room[]
  furniture: readonly Furniture[]
  /** Names of what can be carried. */
  things: readonly string[]
  /** Where each thing is at first: see `Place`. */
  places: readonly Place[]
  /** The way that is locked, from both sides, until the key has been used. */
  door?: { rooms: readonly [number, number]; key: number }
  start: number
  /** Bring the thing to the furniture. */
  quest: { thing: number; furniture: number }
}

/** -1: carried; r: on the floor of room r; rooms + r: on, or in, the furniture of room r. */
export type Place = number
export const carried: Place = -1

interface MapOptions {
  /** 2 to 12. */
  rooms: number
  /** Things that the quest does not need, 0 to 20. */
  distractors: number
  locked: boolean
}

/**
 * The map of a number: rooms without loops, with a piece of furniture in each; the thing of the quest lies
 * beyond the locked door, where there is one, and its key before it: so that the quest can always be fulfilled.
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

  // Cutting the way between a room and its parent parts the map in two; the far side is the one without the start.
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

/** Rooms on a grid, each new one beside one that is there already. */
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

/** What changes in an episode. */
export interface AdventureState {
  room: number
  /** Of each thing. */
  places: readonly Place[]
  /** Of each piece of furniture: whether what is in it can be seen and reached; always so for those that cannot close. */
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

/** Whether the way is the locked one. */
export function isLocked(map: GameMap, state: AdventureState, direction: Direction): boolean {
  const to = map.rooms[state.room].exits[direction]
  if (state.unlocked || map.door === undefined || to === undefined) return false
  return map.door.rooms.includes(to) && map.door.rooms.includes(state.room)
}

export const isFulfilled = ({ rooms, quest }: GameMap, { places }: AdventureState): boolean =>
  places[quest.thing] === rooms.length + quest.furniture
