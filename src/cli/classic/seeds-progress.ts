import type { TrainingEvent } from '../../runs/run-folder.ts'
import { count, decimal } from '../../runs/report/format.ts'
import type { ProgressOutput } from '../shared/progress.ts'
import { sparkline } from '../shared/console.ts'

export interface SeedsProgress {
  event(seed: number, event: TrainingEvent): void
  /** Removes the live block. */
  close(): void
}

type Step = Extract<TrainingEvent, { type: 'step' }>

/**
 * Shows seeds that train at the same time. On a terminal each seed has a line, redrawn in place; elsewhere a line is
 * printed now and then, and every note.
 */
export function createSeedsProgress(
  output: ProgressOutput,
  seeds: readonly number[],
  { everySeconds = 5 }: { everySeconds?: number } = {},
): SeedsProgress {
  const live = output.isTTY === true
  const last = new Map<number, Step>()
  const returns = new Map<number, number[]>(seeds.map((seed) => [seed, []]))
  const shown = new Map<number, number>()
  let drawn = 0

  function erase(): void {
    if (drawn > 0) output.write(`\u001B[${drawn}A\u001B[J`)
    drawn = 0
  }

  function text(seed: number): string {
    const step = last.get(seed)
    if (step === undefined) return `seed ${seed}  waiting`
    const { metrics } = step
    const curve = live ? `${sparkline(returns.get(seed) ?? [], 32).padEnd(32)}  ` : ''
    const gained = metrics['return'] === undefined ? '' : `return ${decimal(metrics['return'])}  `
    return `seed ${seed}  ${curve}step ${step.step}/${step.total}  ${gained}${count(metrics['stepsPerSecond'])} steps/s`
  }

  function draw(): void {
    erase()
    const width = (output.columns ?? 80) - 1
    output.write(seeds.map((seed) => `${text(seed).slice(0, width)}\n`).join(''))
    drawn = seeds.length
  }

  return {
    event(seed, event) {
      if (event.type === 'note') {
        erase()
        output.write(`seed ${seed}: ${event.text}\n`)
        if (live) draw()
      }
      if (event.type !== 'step') return
      last.set(seed, event)
      const gained = event.metrics['return']
      if (gained !== undefined) returns.get(seed)?.push(gained)
      const now = performance.now() / 1000
      const key = live ? -1 : seed
      if (now - (shown.get(key) ?? -Infinity) < (live ? 0.1 : everySeconds)) return
      shown.set(key, now)
      if (live) draw()
      else output.write(`${text(seed)}\n`)
    },
    close: erase,
  }
}
