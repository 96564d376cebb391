import { carried, compass } from './scene.ts'
import type { Scene } from './scene.ts'
import { isLocked, thingsAt } from './state.ts'
import type { AdventureState } from './state.ts'

/** The task as a sentence. */
export function questText({ things, furniture, quest, rooms }: Scene): string {
  const { name, container } = furniture[quest.furniture]
  const where = `${container ? 'in' : 'on'} the ${name} in the ${rooms[quest.furniture].name}`
  return `Your task: put the ${things[quest.thing]} ${where}.`
}

/** What the player sees: the room, its exits, its furniture, what lies about, what is carried, and the task. */
export function describe(scene: Scene, state: AdventureState): string {
  const { room, open } = state
  const { name, exits } = scene.rooms[room]
  const ways = compass
    .filter((way) => exits[way] !== undefined)
    .map((way) => (isLocked(scene, state, way) ? `${way} (a locked door)` : way))
  const piece = scene.furniture[room]
  const names = (things: number[]): string =>
    things.map((thing) => withArticle(scene.things[thing])).join(', ')
  const inside = thingsAt(state, scene.rooms.length + room)
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
    questText(scene),
  ].join('\n')
}

const withArticle = (name: string): string => `${/^[aeiou]/.test(name) ? 'an' : 'a'} ${name}`
