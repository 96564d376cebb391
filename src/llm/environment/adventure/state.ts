import { carried } from './scene.ts'
import type { Direction, Place, Scene } from './scene.ts'

/** What changes in an episode. */
export interface AdventureState {
  room: number
  /** Of each thing. */
  places: readonly Place[]
  /** Of each piece of furniture: whether what is in it can be seen and reached; always so for those that cannot close. */
  open: readonly boolean[]
  unlocked: boolean
}

export const firstState = (scene: Scene): AdventureState => ({
  room: scene.start,
  places: scene.places,
  open: scene.furniture.map(({ container }) => !container),
  unlocked: scene.door === undefined,
})

export const isCarried = (state: AdventureState, thing: number): boolean => state.places[thing] === carried

/** The things at a place. */
export const thingsAt = (state: AdventureState, place: Place): number[] =>
  state.places.flatMap((at, thing) => (at === place ? [thing] : []))

/** The things in the room that can be taken. */
export function reachable({ rooms }: Scene, state: AdventureState): number[] {
  const { room, open } = state
  return [...thingsAt(state, room), ...(open[room] ? thingsAt(state, rooms.length + room) : [])]
}

/** Whether the way is the locked one. */
export function isLocked(scene: Scene, state: AdventureState, direction: Direction): boolean {
  const to = scene.rooms[state.room].exits[direction]
  if (state.unlocked || scene.door === undefined || to === undefined) return false
  return scene.door.rooms.includes(to) && scene.door.rooms.includes(state.room)
}

export const isFulfilled = ({ rooms, quest }: Scene, { places }: AdventureState): boolean =>
  places[quest.thing] === rooms.length + quest.furniture
