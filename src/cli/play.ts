import { setTimeout as wait } from 'node:timers/promises'
import type { ArrayAgent } from '../algorithm/arrays/index.ts'
import { createVectorEnvironment } from '../environment/index.ts'
import type { VectorEnvironment } from '../environment/index.ts'
import { findWorld, loadAgent, returnText } from '../training/arrays/index.ts'
import { requireArrayWorld } from './array-command.ts'
import type { Console } from './console.ts'
import { runsOf } from './eval-array.ts'
import { randomAgent } from './random-agent.ts'
import { drawText } from './terminal-drawing.ts'

export interface PlayCommand {
  world: string
  model?: string
  episodes: number
  seed: number
  /** Frames a second on a terminal. */
  fps: number
  /** Steps between frames. Default: every step on a terminal, every 25th elsewhere. */
  every?: number
}

/** `agoge play WORLD`: whole episodes before one's eyes, by the greedy policy of a run or at random. */
export async function runPlay(command: PlayCommand, terminal: Console): Promise<void> {
  const { world: name, model, episodes, seed, fps } = command
  await requireArrayWorld(name)
  const world = findWorld(name)
  const loaded = model === undefined ? undefined : await loadAgent(runsOf(model)[0] ?? model, name)
  const agent: Pick<ArrayAgent, 'decide' | 'memorySize'> = loaded?.agent ?? randomAgent(world, seed)
  const live = terminal.progress.isTTY === true
  const every = command.every ?? (live ? 1 : 25)
  const environment = createVectorEnvironment(world, { slots: 1, seed, autoreset: 'disabled' })
  const screen = createScreen(terminal, live)
  try {
    for (let episode = 1; episode <= episodes; episode++) {
      environment.reset()
      const memory = new Float32Array(agent.memorySize ?? 0)
      for (let step = 0, over = false; ; step++) {
        if (step % every === 0 || over) {
          screen.show(`${frame(environment)}\n${status(environment, episode, step)}`)
          if (live) await wait(1000 / fps, undefined, { signal: terminal.signal })
        }
        terminal.signal.throwIfAborted()
        if (over) break
        agent.decide(environment.observations, 1, environment.actions, maskOf(environment), memory)
        environment.step()
        over = environment.terminated[0] === 1 || environment.truncated[0] === 1
      }
      const { returns, lengths, terminated } = environment
      screen.keep(
        `episode ${episode}: return ${returnText(returns[0])} in ${lengths[0]} steps, ${terminated[0] === 1 ? 'terminated' : 'truncated'}${model === undefined ? ' (random policy)' : ''}`,
      )
    }
  } finally {
    await loaded?.agent.dispose()
  }
}

/** One frame in place of the last on a terminal, one below the other elsewhere. */
function createScreen({ out, progress }: Console, live: boolean) {
  let drawn = 0
  const erase = (): void => {
    if (drawn > 0) progress.write(`\u001B[${drawn}A\u001B[J`)
    drawn = 0
  }
  return {
    show(text: string): void {
      if (!live) return out(text)
      erase()
      progress.write(`${text}\n`)
      drawn = text.split('\n').length
    },
    /** Shown for good. */
    keep(text: string): void {
      erase()
      out(text)
    },
  }
}

function frame({ world, slots }: VectorEnvironment): string {
  if (world.text !== undefined) return world.text(slots, 0)
  if (world.draw !== undefined) return drawText(world.draw(slots, 0))
  return `observation ${Array.from(slots.observations, (value) => value.toFixed(3)).join(' ')}`
}

function status({ actions, rewards, returns }: VectorEnvironment, episode: number, step: number): string {
  const action = Array.from(actions, (value) => (Number.isInteger(value) ? value : value.toFixed(2))).join(
    ' ',
  )
  const before = step === 0 ? '' : `  action ${action}  reward ${returnText(rewards[0])}`
  return `episode ${episode}  step ${step}${before}  return ${returnText(returns[0])}`
}

function maskOf({ actionMask }: VectorEnvironment): Uint8Array | undefined {
  return actionMask.length > 0 ? actionMask : undefined
}
