import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { readBonus } from './setting-options.ts'
import { agoge } from '../testing/agoge.ts'

const folder = mkdtempSync(join(tmpdir(), 'agoge-tabular-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const settingsOf = (run: string): unknown =>
  (JSON.parse(readFileSync(join(run, 'config.json'), 'utf8')) as { settings: unknown }).settings

test('a tabular agent is trained, evaluated, played and resumed', async () => {
  const run = join(folder, 'table')
  const words = ['--algorithm', 'q-learning', '--steps', '12000', '--context', 'successRate=1']
  const trained = await agoge('train', 'frozen-lake', ...words, '--out', run)
  expect(trained).toMatchObject({ code: 0 })
  expect(trained.out).toMatch(
    /^frozen-lake, q-learning \(annealed\): mean return 1\.00 .* over 100 episodes, after 12k steps\.$/m,
  )
  expect(settingsOf(run)).toMatchObject({ algorithm: 'q-learning', preset: 'annealed' })
  expect(readFileSync(join(run, 'report.html'), 'utf8')).toContain('<svg')
  const again = await agoge('train', '--resume', run)
  expect(again.out.split('\n')[0]).toBe(trained.out.split('\n')[0])
  const evaluated = await agoge('eval', 'frozen-lake', '--model', run, '--episodes', '10')
  expect(evaluated.out).toMatch(/table +10 +1\.00/)
  const played = await agoge('play', 'frozen-lake', '--model', run, '--every', '100')
  expect(played.out).toContain('return 1')
})

test.each(['double-q-learning', 'sarsa', 'expected-sarsa', 'n-step-sarsa', 'sarsa-lambda', 'q-lambda'])(
  '%s can be asked for',
  async (algorithm) => {
    const run = join(folder, algorithm)
    const words = ['--algorithm', algorithm, '--steps', '3000', '--out', run]
    const trained = await agoge('train', 'cliff-walking', ...words)
    expect(trained).toMatchObject({ code: 0 })
    expect(settingsOf(run)).toMatchObject({ algorithm, preset: 'sutton-barto' })
  },
)

test('a bonus is read with its settings', () => {
  expect(readBonus('counts')).toEqual({ kind: 'counts' })
  expect(readBonus('rnd, weight=0.1,learningRate=1e-3')).toEqual({
    kind: 'rnd',
    weight: 0.1,
    learningRate: 1e-3,
  })
})

test.each([
  ['counts', 'q-learning', 'deep-sea'],
  ['rnd,batchSize=32', 'ppo', 'cartpole'],
  ['icm,batchSize=32,weight=0.1', 'dqn', 'frozen-lake'],
])('--bonus %s with %s: a run trains, is recorded and goes on', async (bonus, algorithm, environment) => {
  const run = join(folder, `bonus-${algorithm}`)
  const words = [
    '--algorithm',
    algorithm,
    '--bonus',
    bonus,
    '--num-envs',
    '4',
    '--steps',
    '1024',
    '--out',
    run,
  ]
  const trained = await agoge('train', environment, ...words)
  expect(trained).toMatchObject({ code: 0 })
  expect(settingsOf(run)).toMatchObject({ bonus: { kind: bonus.split(',')[0], weight: expect.any(Number) } })
  if (algorithm === 'ppo') expect(readFileSync(join(run, 'metrics.jsonl'), 'utf8')).toContain('"bonus":')
  expect((await agoge('train', '--resume', run)).out.split('\n')[0]).toBe(trained.out.split('\n')[0])
  expect(await agoge('eval', environment, '--model', run, '--episodes', '2')).toMatchObject({ code: 0 })
})

test('bonuses find what plain Q-learning does not', async () => {
  const words = ['train', 'deep-sea', '--algorithm', 'q-learning', '--steps', '60000', '--num-envs', '8']
  const plain = await agoge(...words, '--out', join(folder, 'plain'))
  const counted = await agoge(...words, '--bonus', 'counts,weight=0.1', '--out', join(folder, 'counted'))
  const found = ({ out }: { out: string }): number => Number(/mean return (-?[\d.]+)/.exec(out)?.[1])
  expect(found(plain)).toBeLessThan(0.1)
  expect(found(counted)).toBeGreaterThan(0.9)
})

test.each<[string[], RegExp]>([
  [['cartpole', '--algorithm', 'q-learning'], /q-learning cannot act in cartpole[\s\S]*box observations/],
  [['taxi', '--algorithm', 'sarsa', '--vary', 'forwardRate', '--visible'], /sarsa cannot act in taxi/],
  [['taxi', '--algorithm', 'sarsa', '--encoder', 'gru'], /no setting of sarsa named "encoder"/],
  [['cartpole', '--bonus', 'count'], /no bonus named "count"[\s\S]*Did you mean "counts"/],
  [['cartpole', '--bonus', 'rnd,beta=1'], /no setting of the bonus rnd named "beta"/],
  [['cartpole', '--bonus', 'rnd,weight'], /--bonus takes a kind and its settings/],
  [['cartpole', '--bonus', 'rnd', '--algorithm', 'cma-es'], /cma-es takes no bonus/],
])('%j is refused', async (words, message) => {
  const { code, err } = await agoge('train', ...words, '--out', join(folder, 'refused'))
  expect(code).toBe(1)
  expect(err).toMatch(message)
})
