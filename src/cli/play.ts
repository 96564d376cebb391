import { defined } from '../defined.ts'
import { AgogeError } from '../error.ts'
import type { ClassicAgent } from '../classic/algorithm/agent.ts'
import { openVector } from '../classic/environment/index.ts'
import type { AnyVector, OpenedVector, EnvironmentDefinition } from '../classic/environment/index.ts'
import { checkActions, checkStep } from '../classic/training/check-step.ts'
import { cutOffAfter } from '../classic/training/evaluate-agent.ts'
import { evaluationContexts } from '../classic/training/context-settings.ts'
import { loadAgent } from '../classic/training/load-agent.ts'
import { openNamed } from '../classic/training/find-run.ts'
import { returnText } from '../classic/training/report.ts'
import { yieldToEventLoop } from '../classic/training/learn-until.ts'
import type { EvaluationContexts } from '../classic/training/context-settings.ts'
import { requireClassicEnvironment } from './classic/classic-command.ts'
import type { Console } from './shared/console.ts'
import { type ContextOptions, readContexts, readSets } from './classic/setting-options.ts'
import { runsOf } from './classic/eval-array.ts'
import { gameOf } from './shared/environment-names.ts'
import { createRecording } from './classic/play-recording.ts'
import { createScreen } from './classic/play-screen.ts'
import { randomAgent } from './classic/random-agent.ts'

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
  if (gameOf(name) !== undefined) {
    const { runPlayText } = await import('./play-text.ts')
    return runPlayText(command, terminal)
  }
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
