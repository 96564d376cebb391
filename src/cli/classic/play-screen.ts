import { setTimeout as wait } from 'node:timers/promises'
import type { AnyVector } from '../../classic/environment/index.ts'
import { returnText } from '../../classic/training/report.ts'
import type { Console } from '../shared/console.ts'
import { drawText } from './terminal-drawing.ts'

/** Where frames are shown. */
export interface Frames {
  /** Steps between two frames. The last frame of an episode is always shown. */
  readonly every: number
  show(environment: AnyVector, episode: number, step: number): Promise<void> | void
  /** Prints a line about a finished episode. */
  keep(text: string): void
  /** Restores the terminal, also after an interrupt. */
  close(): Promise<void> | void
}

/** Makes a screen: on a terminal each frame replaces the last, elsewhere frames follow each other. */
export function createScreen(
  { out, progress, signal }: Console,
  { fps, every }: { fps: number; every?: number },
): Frames {
  const live = progress.isTTY === true
  let drawn = 0
  const erase = (): void => {
    if (drawn > 0) progress.write(`\u001B[${drawn}A\u001B[J`)
    drawn = 0
  }
  return {
    every: every ?? (live ? 1 : 25),
    async show(environment, episode, step) {
      const columns = Math.min(widest, (progress.columns ?? widest + 1) - 1)
      const text = `${frame(environment, columns)}\n${status(environment, episode, step)}`
      if (!live) return out(text)
      // A line that the terminal wraps would be counted as one.
      const shown = text.replaceAll(/^.*$/gm, (line) => Array.from(line).slice(0, columns).join(''))
      erase()
      progress.write(`${shown}\n`)
      drawn = shown.split('\n').length
      await wait(1000 / fps, undefined, { signal })
    },
    keep(text) {
      erase()
      out(text)
    },
    close: () => {},
  }
}

/** Characters in a line of a drawing. */
const widest = 64

function frame({ definition, envs }: AnyVector, columns: number): string {
  if (definition.text !== undefined) return definition.text(envs, 0)
  if (definition.draw !== undefined) return drawText(definition.draw(envs, 0), columns)
  return `observation ${Array.from(envs.observations, (value) => value.toFixed(3)).join(' ')}`
}

function status({ actions, rewards, returns }: AnyVector, episode: number, step: number): string {
  const action = Array.from(actions, (value) => (Number.isInteger(value) ? value : value.toFixed(2))).join(
    ' ',
  )
  const before = step === 0 ? '' : `  action ${action}  reward ${returnText(rewards[0])}`
  return `episode ${episode}  step ${step}${before}  return ${returnText(returns[0])}`
}
