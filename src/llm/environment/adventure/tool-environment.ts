import { AgogeError } from '../../../error.ts'
import { defineToolEnvironment } from '../definition/define-tool-environment.ts'
import { commandText, describe } from './commands.ts'
import { planQuest, playCommand } from './adventure.ts'
import type { adventureContext } from './adventure.ts'
import { type AdventureState, firstState, generateMap, isFulfilled, type GameMap } from './map.ts'

const splits = ['train', 'validation', 'test', 'unseen-paraphrase'] as const

interface Game {
  map: GameMap
  state: AdventureState
  context: Record<keyof typeof adventureContext, number>
}

/** An action outside the action space is an error of the tool and does not change the game. */
function playTyped(map: GameMap, state: AdventureState, command: string) {
  try {
    return playCommand(map, state, command)
  } catch (error) {
    throw AgogeError.isInstance(error) ? new Error(error.message) : error
  }
}

const draft = ({ map, state, context }: Game) => {
  const commands = (planQuest(map, state) ?? []).map((command) => commandText(map, command))
  return {
    prompt: describe(map, state),
    plan: commands.map((command) => ['type', { command }] as const),
    context,
  }
}

/**
 * The text adventure for language models. One tool types commands. An episode succeeds when its quest is fulfilled,
 * whatever the answer is. Quests are of the kinds `open` and `locked`. Splits share no map, and within a split and kind
 * every seed has a different map.
 *
 * @example
 * const environment = await adventureEnvironment.create()
 * const task = adventureEnvironment.tasks.task({ split: 'test', seed: 1 })
 */
export const adventureEnvironment = defineToolEnvironment<Game>({
  name: 'adventure',
  about: 'a text adventure: rooms, things, perhaps a locked door, and one quest',
  system:
    'You play a text adventure. Fulfil your task with the commands of the game, then say that you are done.',
  splits: 'own',
  state({ seed, split, kind }) {
    const context = {
      // The number of the map. The files of earlier runs use this feature name.
      scene: splits.length * Math.abs(seed) + splits.indexOf(split),
      rooms: 3 + (Math.abs(seed) % 4),
      distractors: 3,
      locked: kind === 'locked' ? 1 : 0,
    }
    const map = generateMap(context.scene, { ...context, locked: kind === 'locked' })
    return { map, state: firstState(map), context }
  },
  tools: (game) => ({
    type: {
      description:
        'Types a command into the game and shows what is seen then. Commands: look, go DIRECTION, take THING, drop THING, put THING in (or on) FURNITURE, open FURNITURE, close FURNITURE, unlock door with KEY.',
      inputSchema: {
        type: 'object',
        properties: { command: { type: 'string', minLength: 1, maxLength: 60 } },
        required: ['command'],
        additionalProperties: false,
      },
      execute({ command }: { command: string }) {
        const { map, state } = game
        if (isFulfilled(map, state)) return 'The game is over: you have fulfilled your task.'
        const played = playTyped(map, state, command)
        game.state = played.state
        return played.observation
      },
    },
  }),
  // Only the thing of the quest counts. The rest of the house may be left as it is.
  observe: ({ map, state }) => ({ [map.things[map.quest.thing]]: state.places[map.quest.thing] }),
  kinds: { open: { draft }, locked: { draft } },
  judge({ state: { map, state } }) {
    const success = isFulfilled(map, state)
    return { value: Number(success), parts: { quest: success ? 1 : 0 } }
  },
  demonstrations: 200,
  limits: { turns: 24, totalTokens: 4096 },
})
