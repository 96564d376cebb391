import { AgogeError } from '../error.ts'
import { returnText } from '../classic/training/report.ts'
import type { Adventure } from '../llm/environment/adventure/adventure.ts'
import { gameOf, unknownEnvironment } from './shared/environment-names.ts'
import type { Console } from './shared/console.ts'
import { asksForContexts, readContexts } from './classic/setting-options.ts'
import { createLineReader } from './llm/line-reader.ts'
import type { LineReader } from './llm/line-reader.ts'
import type { PlayCommand } from './play.ts'

/** `agoge play` for a text environment: a person types the actions. */
export async function runPlayText(command: PlayCommand, terminal: Console): Promise<void> {
  refuseOptions(command)
  const reader = createLineReader(terminal.signal)
  try {
    await playText(command, reader.ask, terminal)
    terminal.signal.throwIfAborted()
  } finally {
    reader.close()
  }
}

/** Plays with the lines from `ask`, until the episodes or the lines end. */
export async function playText(
  command: Pick<PlayCommand, 'environment' | 'seed' | 'episodes' | 'context'>,
  ask: LineReader['ask'],
  { out, err }: Pick<Console, 'out' | 'err'>,
): Promise<void> {
  const game = await gameOf(command.environment)?.({ seed: command.seed })
  if (game === undefined) throw unknownEnvironment(command)
  const fixed = asksForContexts(command)
    ? readContexts({ name: game.name, context: game.contextSpace }, command).fixed
    : {}
  err('Type commands. /help lists those that would do something here, /quit ends.')
  for (let episode = 1; episode <= command.episodes; episode++) {
    out(game.reset({ context: fixed }).observation)
    const end = await playEpisode(game, ask, out)
    if (end === undefined) return
    out(`episode ${episode}: ${end}`)
  }
}

/** How the episode ended; undefined if the player left. */
async function playEpisode(
  game: Adventure,
  ask: LineReader['ask'],
  out: Console['out'],
): Promise<string | undefined> {
  let total = 0
  for (let step = 0; ;) {
    const line = (await ask('\n> '))?.trim()
    if (line === undefined || line === '/quit') return undefined
    if (line === '') continue
    if (line === '/help') {
      out(game.admissible().join('\n'))
      continue
    }
    // Text outside the action space does not use a step.
    const played = tryStep(game, line)
    if (typeof played === 'string') {
      out(played)
      continue
    }
    step++
    total += played.reward
    out(played.observation)
    const how = played.terminated ? 'terminated' : played.truncated ? 'truncated' : undefined
    if (how !== undefined) return `return ${returnText(total)} in ${step} steps, ${how}`
  }
}

function tryStep(game: Adventure, line: string): ReturnType<Adventure['step']> | string {
  try {
    return game.step(line)
  } catch (error) {
    if (AgogeError.isInstance(error) && error.code === 'not-in-space') return error.message
    throw error
  }
}

/** Options for agents and images. */
function refuseOptions({ environment, model, vary, set, every, render }: PlayCommand): void {
  const given = Object.entries({ model, vary, set, every, render }).filter(([, value]) => value !== undefined)
  if (given.length === 0) return
  throw new AgogeError(`${given.map(([name]) => `--${name}`).join(', ')} means nothing for ${environment}`, {
    code: 'bad-option',
    given: given.map(([name]) => `--${name}`).join(' '),
    expected: '--seed, --episodes, --context',
    hint: `You type the commands of ${environment}; a language model plays it by: agoge eval ${environment} --model URL#NAME`,
  })
}
