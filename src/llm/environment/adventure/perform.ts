import { parseCommand } from './command.ts'
import type { Command } from './command.ts'
import { carried, compass } from './scene.ts'
import type { Place, Scene } from './scene.ts'
import { isCarried, isLocked, reachable } from './state.ts'
import type { AdventureState } from './state.ts'

export interface Outcome {
  state: AdventureState
  /** A sentence for the player. */
  said: string
}

/** What a typed command does; one that is not understood, or does not work, only says so. */
export function performText(scene: Scene, state: AdventureState, text: string): Outcome {
  const command = parseCommand(scene, text)
  return typeof command === 'string' ? { state, said: command } : perform(scene, state, command)
}

export function perform(scene: Scene, state: AdventureState, command: Command): Outcome {
  const { rooms, furniture, things, door } = scene
  const no = (said: string): Outcome => ({ state, said })
  const moved = (thing: number, place: Place, said: string): Outcome => ({
    state: { ...state, places: state.places.map((at, k) => (k === thing ? place : at)) },
    said,
  })
  switch (command.verb) {
    case 'look':
      return no('You look around.')
    case 'go': {
      const to = rooms[state.room].exits[command.direction]
      if (to === undefined) return no('There is no way.')
      if (isLocked(scene, state, command.direction)) return no('The door is locked.')
      return { state: { ...state, room: to }, said: `You go ${command.direction}.` }
    }
    case 'take': {
      const name = things[command.thing]
      if (isCarried(state, command.thing)) return no(`You carry the ${name} already.`)
      if (!reachable(scene, state).includes(command.thing)) return no(`You see no ${name} here.`)
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
      if (!compass.some((way) => isLocked(scene, state, way))) return no('There is no locked door here.')
      if (command.thing !== door?.key) return no(`The ${name} does not fit.`)
      return { state: { ...state, unlocked: true }, said: 'You unlock the door.' }
    }
  }
}
