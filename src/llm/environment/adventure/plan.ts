import { type Command, perform, possibleCommands } from './commands.ts'
import { type AdventureState, isFulfilled, type GameMap } from './map.ts'

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
