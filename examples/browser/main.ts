import { renderSvg } from 'agoge/browser'
import { budget, goal } from './goal.ts'
import type { Evaluation, Progress, Report, Request } from './messages.ts'
import { plot } from './plot.ts'
import type { Point } from './plot.ts'

/** `spent`: all steps are used and the goal is not reached. */
type State = 'ready' | 'loading' | 'training' | 'pausing' | 'paused' | 'solved' | 'spent' | 'failed'

const labels: Readonly<Record<State, string>> = {
  ready: 'Start',
  loading: 'Loading',
  training: 'Pause',
  pausing: 'Pause',
  paused: 'Resume',
  solved: 'Again',
  spent: 'Again',
  failed: 'Again',
}

const element = (id: string): HTMLElement => document.getElementById(id)!
const button = element('start') as HTMLButtonElement
const widthField = element('width') as HTMLSelectElement
const seedField = element('seed') as HTMLInputElement

let worker: Worker | undefined
let state: State = 'ready'
let progress: Progress = { step: 0, seconds: 0, episodes: 0 }
let points: Point[] = []
let evaluations: Evaluation[] = []
let frame: Extract<Report, { type: 'frame' }> | undefined
let drawing = false

button.addEventListener('click', () => {
  if (state === 'training') {
    tell({ type: 'pause' })
    become('pausing', 'Pausing after this update …')
  } else if (state === 'paused') {
    tell({ type: 'resume' })
    become('training', 'Training …')
  } else begin()
})
element('reset').addEventListener('click', clear)
clear()

function begin(): void {
  clear()
  worker = new Worker(new URL('worker.ts', import.meta.url), { type: 'module' })
  worker.addEventListener('message', ({ data }: MessageEvent<Report>) => heard(data))
  worker.addEventListener('error', ({ message }) => fail(message || 'the worker could not be loaded'))
  tell({ type: 'start', seed: seedField.valueAsNumber || 0, width: Number(widthField.value) })
  become('loading', 'Compiling the loss and its gradient …')
}

function clear(): void {
  worker?.terminate()
  worker = undefined
  progress = { step: 0, seconds: 0, episodes: 0 }
  points = []
  evaluations = []
  frame = undefined
  element('engine').textContent = '–'
  become('ready', `PPO has ${budget.toLocaleString('en')} steps to reach a mean return of ${goal}.`)
}

function tell(request: Request): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that of a worker takes none
  worker?.postMessage(request)
}

function heard(report: Report): void {
  switch (report.type) {
    case 'training':
      element('engine').textContent = report.engine
      become('training', `Training … (compiled in ${report.loadingSeconds.toFixed(2)} s)`)
      break
    case 'frame':
      frame = report
      break
    case 'progress':
      progress = report
      if (report.ended !== undefined) points.push({ x: report.step, y: report.ended })
      break
    case 'evaluation':
      evaluations.push(report)
      break
    case 'paused':
      become('paused', 'Paused. The pole is balanced by the policy as it stands.')
      break
    case 'ended':
      finish(report.solved)
      break
    case 'failed':
      fail(report.message)
  }
  redraw()
}

function finish(solved: boolean): void {
  const { mean, low, high, episodes } = evaluations[evaluations.length - 1]
  const measured = `${mean.toFixed(1)} (${low.toFixed(1)} to ${high.toFixed(1)}) over ${episodes} fresh episodes`
  if (solved) become('solved', `Solved: ${measured}.`)
  else become('spent', `Not solved with this seed: a mean return of ${measured} after all steps.`)
}

function fail(message: string): void {
  worker?.terminate()
  become('failed', `Stopped: ${message}`)
}

function become(next: State, text: string): void {
  state = next
  document.body.dataset['state'] = next
  element('status').textContent = text
  button.textContent = labels[next]
  button.disabled = next === 'loading' || next === 'pausing'
  seedField.disabled = widthField.disabled = ['loading', 'training', 'pausing', 'paused'].includes(next)
  redraw()
}

/** Draws once per frame of the screen, however many messages the worker sends. */
function redraw(): void {
  if (drawing) return
  drawing = true
  requestAnimationFrame(() => {
    drawing = false
    const { step, seconds, episodes } = progress
    const last = evaluations.at(-1)
    element('steps').textContent = step.toLocaleString('en')
    element('seconds').textContent = `${seconds.toFixed(1)} s`
    element('speed').textContent = seconds > 0 ? Math.round(step / seconds).toLocaleString('en') : '–'
    element('episodes').textContent = episodes.toLocaleString('en')
    element('greedy').textContent = last === undefined ? '–' : last.mean.toFixed(1)
    element('greedy-over').textContent = last === undefined ? '' : `over ${last.episodes} episodes`
    element('plot').innerHTML = plot(points, evaluations)
    element('pole').innerHTML = frame === undefined ? '' : renderSvg(frame.drawing)
    element('up').textContent = frame === undefined ? '' : `up for ${(frame.length * 0.02).toFixed(1)} s`
  })
}
