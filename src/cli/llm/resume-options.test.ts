import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { smallModelPlan } from '../../llm/training/defaults.ts'
import type { TrainingPlan } from '../../llm/training/types.ts'
import { runCli } from '../run-cli.ts'
import { readRun } from './run-settings.ts'
import { runToResume } from '../shared/runs.ts'
import { agoge } from '../testing/agoge.ts'

// The first call of a command loads its modules, which takes long on a busy machine; nothing here is about time.
const home = process.cwd()
const folder = mkdtempSync(join(tmpdir(), 'agoge-resume-'))
const run = join('.agoge', 'runs', 'of-command')
const ofProgram = join('.agoge', 'runs', 'of-program')
const onMemory = join('.agoge', 'runs', 'on-memory')
const whole = {
  schema: 1,
  environment: 'filesystem',
  seed: 0,
  compareSupervised: false,
  plan: { ...smallModelPlan, demonstrations: {} },
  model: 'nowhere',
  commandLine: 'agoge train',
}

function begin(path: string, config: unknown, minutesAgo: number): void {
  mkdirSync(path, { recursive: true })
  const file = join(path, 'config.json')
  writeFileSync(file, typeof config === 'string' ? config : JSON.stringify(config))
  const time = Date.now() / 1000 - 60 * minutesAgo
  utimesSync(file, time, time)
}

beforeAll(() => {
  process.chdir(folder)
  begin(onMemory, { ...whole, environment: 'mcp:memory' }, 3)
  begin(run, whole, 2)
  const { model, commandLine, ...library } = whole
  expect([model, commandLine]).toHaveLength(2)
  begin(ofProgram, library, 1)
  begin('seedless', { ...whole, seed: 'one' }, 0)
  begin('planless', { ...whole, plan: { ...whole.plan, tasks: { validation: 1, test: 'x' } } }, 0)
  begin('list', [], 0)
  begin('broken', '{ "environment": ', 0)
  begin('array', { kind: 'array', environment: 'cartpole' }, 0)
})

afterAll(() => {
  process.chdir(home)
  rmSync(folder, { recursive: true, force: true })
})

test('without a name, the last run that a command began is resumed', () => {
  expect(runToResume(true)).toBe(run)
  expect(runToResume('list')).toBe('list')
})

test.each<[string[], RegExp]>([
  [['train', '--resume', run, '--steps', '9'], /keeps the options[\s\S]*given: +--steps/],
  [['train', '--resume', run, '--overlap', '--max-staleness', '1'], /given: +--overlap --max-staleness/],
  [['train', '--resume', run, '--seed', '0'], /given: +--seed/],
  [['train', '--resume', '--tasks', '5', '--quick'], /given: +--tasks --quick/],
  [
    ['train', '--resume', run, '--model', 'x', '--compare-supervised'],
    /given: +--model --compare-supervised/,
  ],
  [
    ['train', '--resume', run, '--out', 'x'],
    /given: +--out[\s\S]*--yes or --tinker-url or --time-limit at most/,
  ],
  [['train', '--resume', run, '--mcp-config', 'x.json', '--yes'], /given: +--mcp-config\n/],
  [['train', '--resume', run, '--algorithm', 'gspo'], /given: +--algorithm/],
  [
    ['train', 'mcp:memory', '--resume', run],
    /trains on filesystem, not on mcp:memory[\s\S]*--resume \.agoge.runs.on-memory/,
  ],
  [['train', 'mcp:memory', '--resume'], /of-command trains on filesystem, not on mcp:memory/],
  [['train', 'pendulum', '--resume', 'array'], /array trains on cartpole, not on pendulum/],
  [['train', '--resume', ofProgram], /not begun by agoge train[\s\S]*"model"[\s\S]*resume: true/],
  [['train', '--resume', 'seedless'], /seedless.config\.json has a wrong "seed"[\s\S]*given: +one/],
  [['train', '--resume', 'planless'], /has a wrong "plan\.tasks\.test"[\s\S]*given: +x/],
  [['train', '--resume', 'list'], /has a wrong "environment"/],
  [['train', '--resume', 'broken'], /broken.config\.json is not JSON/],
  // What changes nothing is let through: it gets as far as the missing model.
  [['train', 'filesystem', '--resume', run, '--yes', '--tinker-url', 'http://127.0.0.1:9'], /nowhere/],
  [
    ['train', '--from-scratch', '--model', 'mine'],
    /--from-scratch makes the base model[\s\S]*agoge pretrain --out mine/,
  ],
])('%j is refused with what is wrong', async (words, message) => {
  const { code, err } = await agoge(...words)
  expect(err).toMatch(message)
  expect(code).toBe(1)
  expect(err).not.toMatch(/\n {4}at /)
})

test('a base model that --from-scratch made earlier is used, and said to be', async () => {
  const made = join('.agoge', 'models', 'base')
  mkdirSync(made, { recursive: true })
  writeFileSync(join(made, 'model.safetensors'), 'not really')
  const { code, err } = await agoge('train', '--from-scratch')
  expect(err).toMatch(/using .*models.base, made earlier by agoge train --from-scratch/)
  expect(code).toBe(1)
})

test('how stale batches may be is recorded in the plan, with which a resumed run goes on', async () => {
  const out = join(folder, 'stale')
  const file = join(out, 'config.json')
  const stop = new AbortController()
  const begun = setInterval(() => existsSync(file) && stop.abort(new Error('enough')), 20)
  const discard = (): void => {}
  const code = await runCli(
    ['train', 'filesystem', '--quick', '--max-staleness', '2', '--overlap', '--out', out],
    {
      out: discard,
      err: discard,
      progress: { write: discard },
      signal: stop.signal,
      debug: false,
    },
  )
  clearInterval(begun)
  expect(code).not.toBe(0)
  const { plan } = JSON.parse(readFileSync(file, 'utf8')) as { plan: TrainingPlan }
  expect(plan.reinforcement).toMatchObject({ maxStaleness: 2, overlap: true })
  expect(readRun(out).settings.plan).toEqual(plan)
})
