import { defined } from '../defined.ts'
import { AgogeError } from '../error.ts'
import type { ClassicAgent } from '../classic/algorithm/agent.ts'
import { openVector } from '../classic/environment/index.ts'
import type { AnyVector, OpenedVector, EnvironmentDefinition } from '../classic/environment/index.ts'
import { checkActions, checkStep } from '../classic/training/check-step.ts'
import { cutOffAfter } from '../classic/training/evaluate-agent.ts'
import { evaluationContexts } from '../classic/training/context-settings.ts'
import type { EvaluationContexts } from '../classic/training/context-settings.ts'
import { loadAgent } from '../classic/training/load-agent.ts'
import { openNamed } from '../classic/training/find-run.ts'
import { returnText } from '../classic/training/report.ts'
import { yieldToEventLoop } from '../event-loop.ts'
import { requireClassicEnvironment, gameOf, unknownEnvironment } from './shared/environment-names.ts'
import type { Console } from './shared/console.ts'
import { readContexts, readSets, asksForContexts } from './classic/setting-options.ts'
import type { ContextOptions } from './classic/setting-options.ts'
import { runsOf, randomAgent } from './classic/eval-array.ts'
import { createRecording, createScreen } from './classic/play-frames.ts'
import type { Adventure } from '../llm/environment/adventure/adventure.ts'
import { createLineReader } from './llm/line-reader.ts'
import type { LineReader } from './llm/line-reader.ts'

export interface PlayCommand extends ContextOptions {
  environment: string
  model?: string
  episodes: number
  seed: number
  /** Frames per second, on a terminal and in recordings. */
  fps: number
  /** Steps between frames. Default: 1 on a terminal and in recordings, 25 elsewhere. */
  every?: number
  /** Which contexts. */
  set?: string
  /** Write frames here instead of showing them. */
  render?: string
}

/**
 * `agoge play ENVIRONMENT`: shows or records whole episodes of a trained agent, played greedily, or of random actions.
 */
export async function runPlay(command: PlayCommand, terminal: Console): Promise<void> {
  const { environment: name, model, episodes, seed, fps, every, render } = command
  if (gameOf(name) !== undefined) return runPlayText(command, terminal)
  await requireClassicEnvironment(name)
  const { definition, playable } = await openNamed(name)
  refuseSeveralAgents(name, definition)
  const how = { fps, ...defined({ every }) }
  const frames = render === undefined ? createScreen(terminal, how) : createRecording(render, terminal, how)
  const loaded = model === undefined ? undefined : await loadAgent(runsOf(model)[0] ?? model, name)
  const agent: Pick<ClassicAgent, 'predict' | 'memorySize'> = loaded?.agent ?? randomAgent(definition, seed)
  let environment: OpenedVector | undefined
  try {
    const contextFor = chooseContexts(definition, command, loaded?.contexts)
    environment = await openVector(loaded?.playable ?? playable, {
      numEnvs: 1,
      seed,
      autoreset: 'disabled',
      maxSteps: definition.maxSteps ?? cutOffAfter,
      contextFor: (_, episode) => contextFor(episode),
    })
    for (let episode = 1; episode <= episodes; episode++) {
      await environment.reset()
      checkStep(environment, 0)
      const memory = new Float32Array(agent.memorySize ?? 0)
      for (let step = 0, over = false; ; step++) {
        if (step % frames.every === 0 || over) await frames.show(environment, episode, step)
        // Yields to the event loop so that Ctrl-C is noticed.
        if (step % 100 === 0) await yieldToEventLoop()
        terminal.signal.throwIfAborted()
        if (over) break
        agent.predict(environment.observations, 1, environment.actions, maskOf(environment), memory)
        checkActions(environment, step + 1)
        await environment.step()
        checkStep(environment, step + 1)
        over = environment.terminated[0] === 1 || environment.truncated[0] === 1
      }
      const { returns, lengths, terminated } = environment
      const end = terminated[0] === 1 ? 'terminated' : 'truncated'
      const notes = [
        ...contextText(definition, contextFor(episode - 1)),
        ...(model === undefined ? ['random policy'] : []),
      ].map((note) => ` (${note})`)
      frames.keep(
        `episode ${episode}: return ${returnText(returns[0])} in ${lengths[0]} steps, ${end}${notes.join('')}`,
      )
    }
  } finally {
    await frames.close()
    await environment?.close()
    await loaded?.agent.dispose()
  }
}

function refuseSeveralAgents(name: string, { agentNames: agents }: EnvironmentDefinition): void {
  if (agents === undefined) return
  throw new AgogeError(`${name} is played by ${agents.length} agents and has no drawing`, {
    code: 'no-drawing',
    given: name,
    expected: 'an environment of one agent',
    hint: `Returns of each agent: agoge eval ${name} --model RUN`,
  })
}

/** One set. Default: that of training if the run or the command varies features. */
function chooseContexts(
  definition: EnvironmentDefinition,
  command: PlayCommand,
  trained: Parameters<typeof readContexts>[2],
): EvaluationContexts {
  const contexts = readContexts(definition, command, trained)
  const [set] = readSets(definition, contexts, command.set === undefined ? undefined : [command.set])
  return evaluationContexts(definition, contexts, set, command.seed)
}

/** The features that differ from their defaults. */
function contextText(
  definition: EnvironmentDefinition,
  context: Readonly<Record<string, number | undefined>>,
): string[] {
  const features = Object.entries(context).filter(
    ([name, value]) => value !== undefined && value !== definition.context[name].default,
  )
  return features.length === 0
    ? []
    : [features.map(([name, value]) => `${name} ${Number(value?.toPrecision(3))}`).join(', ')]
}

function maskOf({ actionMask }: AnyVector): Uint8Array | undefined {
  return actionMask.length > 0 ? actionMask : undefined
}

/** `agoge play` for a text environment: a person types the actions. */
async function runPlayText(command: PlayCommand, terminal: Console): Promise<void> {
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
