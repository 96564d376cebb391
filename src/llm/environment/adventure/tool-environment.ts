import type { Task, TaskSource, ToolEnvironment } from '../../agent/types.ts'
import { AgogeError } from '../../../error.ts'
import { createAdventure } from './adventure.ts'

/** A quest; `context` makes its scene. */
export interface AdventureTask extends Task {
  context: { scene: number; rooms: number; distractors: number; locked: number }
}

/** Whether a locked door lies in the way. */
const families = { open: 0, locked: 1 } as const
const splits = ['train', 'validation', 'test', 'unseen-wording'] as const

/** Quests by seed, in families `open` and `locked`. Splits have no scene in common, seeds of a split and family neither. */
export const adventureTasks: TaskSource<AdventureTask> = {
  kinds: Object.keys(families),
  task({ split, seed, kind: family = seed % 2 === 0 ? 'open' : 'locked' }) {
    if (!Object.hasOwn(families, family)) {
      throw new AgogeError(`The adventure has no family "${family}".`, {
        code: 'unknown-kind',
        given: family,
        expected: `one of ${adventureTasks.kinds.join(', ')}`,
      })
    }
    const context = {
      scene: splits.length * Math.abs(seed) + splits.indexOf(split),
      rooms: 3 + (Math.abs(seed) % 4),
      distractors: 3,
      locked: families[family as keyof typeof families],
    }
    const game = createAdventure()
    const { observation } = game.reset({ context })
    const commands = game.plan()
    return {
      id: `adventure/${split}/${family}/${seed}`,
      kind: family,
      seed,
      split,
      prompt: observation,
      difficulty: commands.length,
      context,
      plan: (results) =>
        results.length < commands.length
          ? { call: { name: 'type', arguments: { command: commands[results.length] } } }
          : { answer: 'done' },
    }
  },
}

const type = {
  name: 'type',
  description:
    'Types a command into the game and shows what is seen then. Commands: look, go DIRECTION, take THING, drop THING, put THING in (or on) FURNITURE, open FURNITURE, close FURNITURE, unlock door with KEY.',
  inputSchema: {
    type: 'object',
    properties: { command: { type: 'string', minLength: 1, maxLength: 60 } },
    required: ['command'],
    additionalProperties: false,
  },
} as const

/**
 * The text adventure for language models: one tool types commands, an episode succeeds when its quest is fulfilled,
 * whatever is answered in the end.
 *
 * @example
 * const task = adventureTasks.task({ split: 'test', seed: 1 })
 * const [episode] = await runEpisodes([{ id: 'e', group: task.id, task }], actor, createAdventureEnvironment(), limits)
 */
export function createAdventureEnvironment(): ToolEnvironment<AdventureTask> {
  return {
    name: 'adventure',
    tools: [type],
    system:
      'You play a text adventure. Fulfil your task with the commands of the game, then say that you are done.',
    async open({ context }) {
      const game = createAdventure({ maxSteps: Infinity })
      game.reset({ context })
      let fulfilled = false
      return {
        specs: [type],
        async call(name, args) {
          if (name !== type.name) return { text: `there is no tool ${name}`, isError: true }
          if (fulfilled) return { text: 'The game is over: you have fulfilled your task.', isError: false }
          try {
            const { observation, terminated } = game.step(args['command'] as string)
            fulfilled = terminated
            return { text: observation, isError: false }
          } catch (error) {
            if (!AgogeError.isInstance(error)) throw error
            return { text: error.message, isError: true }
          }
        },
        judge: async () => ({ success: fulfilled, parts: { quest: fulfilled ? 1 : 0 } }),
        close: async () => {},
      }
    },
    close: async () => {},
  }
}
