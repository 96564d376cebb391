import type { TrainingEvent } from '../../runs/run-folder.ts'
import { count, decimal, duration, percent, percentInterval } from '../../runs/report/format.ts'
import { stageTitles } from '../../llm/training/report/sections.ts'
import { visibleText } from '../../untrusted/visible-text.ts'
import { sparkline } from './console.ts'

/** Where progress is written: standard error, or a similar stream. */
export interface ProgressOutput {
  write(text: string): unknown
  isTTY?: boolean
  columns?: number
}

interface Progress {
  event(event: TrainingEvent): void
  /** Prints a permanent line. */
  line(text: string): void
  /** Removes the live block. */
  close(): void
}

type Step = Extract<TrainingEvent, { type: 'step' }>
type Evaluation = Extract<TrainingEvent, { type: 'evaluation' }>

const phaseTitles: Record<string, string> = {
  demonstrations: 'demonstrations',
  'warm-start': 'warm start',
  rl: 'reinforcement learning',
  pretrain: 'pretraining',
  train: 'training',
}

const curveNames = ['return', 'reward', 'success', 'loss']

const stageNames: Record<string, string> = { ...stageTitles, 'unseen-paraphrase': 'on unseen paraphrases' }

/**
 * Shows the progress of a job. On a terminal a small block is redrawn in place: phase, step, curves, speed, time left.
 * Elsewhere a plain line is written every `everySeconds` and at every change of phase, so that logs stay short.
 */
export function createProgress(output: ProgressOutput, options: { everySeconds?: number } = {}): Progress {
  const live = output.isTTY === true
  const pause = live ? 0.1 : (options.everySeconds ?? 5)
  let title = ''
  let started = performance.now()
  let steps: Step[] = []
  let drawn = 0
  let lastDrawn = -Infinity
  let current: (() => string[]) | null = null

  function erase(): void {
    if (drawn > 0) output.write(`\u001B[${drawn}A\u001B[J`)
    drawn = 0
  }

  function line(text: string): void {
    erase()
    output.write(`${visibleText(text)}\n`)
    if (live) draw(true)
  }

  function draw(force = false): void {
    const now = performance.now() / 1000
    if (current === null || (!force && now - lastDrawn < pause)) return
    lastDrawn = now
    const lines = current()
    if (!live) {
      output.write(`${lines.join('  ')}\n`)
      return
    }
    erase()
    const width = (output.columns ?? 80) - 1
    output.write(lines.map((text) => `${text.slice(0, width)}\n`).join(''))
    drawn = lines.length
  }

  /** The summary of a phase that stays when the next one begins. */
  function finishPhase(): void {
    const last = steps.at(-1)
    current = null
    if (last !== undefined) {
      const measured = curveNames.flatMap((name) => formatNumber(last, name))
      line(
        `${title}: ${last.step} steps in ${duration((performance.now() - started) / 1000)}, ${measured.join(', ')}`,
      )
    } else erase()
    steps = []
  }

  return {
    line,
    close() {
      current = null
      erase()
    },
    event(event) {
      switch (event.type) {
        case 'phase':
          finishPhase()
          title = phaseTitles[event.name] ?? event.name
          started = performance.now()
          lastDrawn = performance.now() / 1000
          current = () => [title]
          if (live) draw(true)
          return
        case 'step':
          // Validations are records of their own and are not part of the curves.
          if (event.phase.endsWith('-validation')) return
          steps.push(event)
          current = () => stepLines(title, steps, started, live)
          draw()
          return
        case 'evaluation': {
          const name = stageNames[event.stage] ?? event.stage
          if (event.done < event.total) {
            current = () => evaluationLines(name, event)
            draw()
          } else if (!event.stage.endsWith('-validation') && event.success !== undefined) {
            current = null
            line(`${name}: ${percentInterval(event.success)} of ${event.success.n} ${event.split} tasks`)
          } else if (steps.length > 0) current = () => stepLines(title, steps, started, live)
          return
        }
        case 'note':
          line(event.text)
      }
    },
  }
}

function evaluationLines(name: string, { split, done, total, success }: Evaluation): string[] {
  const soFar = success === undefined || success.n === 0 ? '' : `, ${percent(success.mean)} so far`
  const what = split === 'trials' ? split : `${split} tasks`
  return [`${name}: ${done}/${total} ${what}${soFar}`]
}

function stepLines(title: string, steps: readonly Step[], started: number, live: boolean): string[] {
  const last = steps[steps.length - 1]
  const left = secondsLeft(steps)
  const elapsed = duration((performance.now() - started) / 1000)
  const time = left === null ? elapsed : `${elapsed}, about ${duration(left)} left`
  const head = `${title}  step ${last.step}${last.total === null ? '' : `/${last.total}`}  ${time}`
  const curves = curveNames.filter((name) => name in last.metrics)
  const rest = ['tokensPerSecond', 'stepsPerSecond', 'invalidCalls', 'entropy', 'gradientNorm'].flatMap(
    (name) => formatNumber(last, name),
  )
  if (!live)
    return [head, ...curves.slice(0, 2).flatMap((name) => formatNumber(last, name)), ...rest.slice(0, 2)]
  return [
    head,
    ...curves.map((name) => {
      const values = steps.map(({ metrics }) => metrics[name] ?? NaN)
      const range = name === 'success' ? { low: 0, high: 1 } : {}
      return `  ${name.padEnd(8)} ${sparkline(values, 48, range).padEnd(48)}  ${show(name, last.metrics[name])}`
    }),
    ...(rest.length === 0 ? [] : [`  ${rest.join(' · ')}`]),
  ]
}

function formatNumber({ metrics }: Step, name: string): string[] {
  if (!(name in metrics)) return []
  if (name === 'tokensPerSecond') return [`${count(metrics[name])} tokens/s`]
  if (name === 'stepsPerSecond') return [`${count(metrics[name])} steps/s`]
  const label = { invalidCalls: 'invalid calls', gradientNorm: 'gradient norm' }[name] ?? name
  return [`${label} ${show(name, metrics[name])}`]
}

function show(name: string, value: number): string {
  return name === 'success' || name === 'invalidCalls' ? percent(value) : decimal(value)
}

/** Uses the mean of the last steps, because the first step of a phase includes its start-up. */
function secondsLeft(steps: readonly Step[]): number | null {
  const { step, total } = steps[steps.length - 1]
  if (total === null || steps.length < 3) return null
  const recent = steps.slice(-20)
  // A record may cover several steps: those since the record before it.
  const covered = step - recent[0].step
  const seconds = recent.slice(1).reduce((sum, { seconds }) => sum + seconds, 0)
  return (seconds / covered) * Math.max(0, total - step)
}

interface SeedsProgress {
  event(seed: number, event: TrainingEvent): void
  /** Removes the live block. */
  close(): void
}

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
