import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { classicEnvironments } from '../../classic/environments/catalogue.ts'
import type { ContextSettings } from '../../classic/training/context-settings.ts'
import { readContexts } from './setting-options.ts'
import type { AgentReport } from './eval-array.ts'
import { agoge } from '../testing/agoge.ts'

const folder = mkdtempSync(join(tmpdir(), 'agoge-contexts-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function evaluate(...words: string[]): Promise<AgentReport[]> {
  const file = join(folder, 'report.json')
  const { code, err } = await agoge('eval', ...words, '--json', file)
  expect(err).toBe('')
  expect(code).toBe(0)
  return (JSON.parse(readFileSync(file, 'utf8')) as { reports: AgentReport[] }).reports
}

test('a fixed feature is what episodes are played with: a bandit gives as many pulls as its horizon', async () => {
  const [report] = await evaluate('bernoulli-bandit', '--context', 'horizon=7', '--episodes', '5')
  expect(report).toMatchObject({ model: 'random', set: 'default', length: 7 })
})

test('features that vary are drawn from every set, or from those that are named', async () => {
  const all = await evaluate('bernoulli-bandit', '--vary', 'horizon', '--episodes', '40')
  expect(all.map(({ set }) => set)).toEqual(['train', 'interpolation', 'extrapolation'])
  const [train, between, outside] = all.map(({ length }) => length)
  expect(train).toBeGreaterThan(60)
  expect(train).toBeLessThan(150)
  expect(between).not.toBe(train)
  expect(between).toBeLessThan(150)
  expect(outside).toBeGreaterThan(200)
  const named = await evaluate('bernoulli-bandit', '--set', 'extrapolation', '--set', 'default')
  expect(named.map(({ set }) => set)).toEqual(['extrapolation', 'default'])
  expect(named[1].length).toBe(100)
})

const run = join(folder, 'run')
const quick = ['--algorithm', 'pqn', '--num-envs', '8', '--steps', '1024']

test('a run sees what varies, is evaluated on every set, and is evaluated in its contexts without naming them again', async () => {
  const contexts = ['--vary', 'gravity,force', '--visible', '--context', 'cartMass=2']
  const { out } = await agoge('train', 'cartpole', ...quick, ...contexts, '--out', run)
  for (const set of ['train', 'interpolation', 'extrapolation'])
    expect(out).toMatch(new RegExp(`^${set} +[\\d.]+ \\([\\d.]+ to [\\d.]+\\)$`, 'm'))
  const config = JSON.parse(readFileSync(join(run, 'config.json'), 'utf8')) as unknown
  expect(config).toMatchObject({
    settings: { contexts: { vary: ['gravity', 'force'], visible: true, fixed: { cartMass: 2 } } },
  })
  const summary = JSON.parse(readFileSync(join(run, 'summary.json'), 'utf8')) as {
    return: unknown
    sets: { set: string; return: { n: number } }[]
  }
  expect(summary.sets.map(({ set, return: { n } }) => [set, n])).toEqual([
    ['train', 100],
    ['interpolation', 100],
    ['extrapolation', 100],
  ])
  expect(summary.sets[0].return).toEqual(summary.return)
  expect(readFileSync(join(run, 'report.html'), 'utf8')).toMatch(/<h2>Contexts<\/h2>[\s\S]*extrapolation/)
  const again = await evaluate('cartpole', '--model', run)
  expect(again.map((report) => report.return)).toEqual(summary.sets.map((report) => report.return))
  const resumed = await agoge('train', '--resume', run)
  expect(resumed.out.split('\n').slice(0, 6)).toEqual(out.split('\n').slice(0, 6))
  const played = await agoge('play', 'cartpole', '--model', run, '--set', 'extrapolation', '--every', '999')
  expect(played.out).toMatch(/\(cartMass 2, gravity [\d.]+, force [\d.]+\)/)
})

test('the sets of several seeds are summed up', async () => {
  const out = join(folder, 'seeds')
  const contexts = ['--vary', 'gravity', '--seeds', '2', '--out', out]
  const trained = await agoge('train', 'cartpole', ...quick, ...contexts)
  expect(trained.out).toMatch(/^extrapolation +[\d.]+ \(no interval: n = 2, fewer than 5\)$/m)
  const { out: shown } = await agoge('eval', 'cartpole', '--model', out, '--set', 'train', '--episodes', '5')
  expect(shown).toMatch(/interquartile mean [\d.]+ .* over 2 seeds on train contexts/)
})

test('what the command line says of contexts goes before what the run was trained in', () => {
  const cartPole = classicEnvironments['cartpole']
  const trained: ContextSettings = { vary: ['gravity', 'force'], visible: true, fixed: { cartMass: 2 } }
  const read = (options: Parameters<typeof readContexts>[1]) => readContexts(cartPole, options, trained)
  expect(read({})).toEqual(trained)
  expect(read({ context: ['gravity=4, poleMass=0.2'] })).toEqual({
    vary: ['force'],
    visible: true,
    fixed: { cartMass: 2, gravity: 4, poleMass: 0.2 },
  })
  expect(read({ vary: 'cartMass' })).toEqual({ vary: ['cartMass'], visible: true, fixed: {} })
  expect(read({ vary: 'all', context: ['force=5'] })).toEqual({
    vary: ['gravity', 'cartMass', 'poleMass', 'poleHalfLength'],
    visible: true,
    fixed: { force: 5 },
  })
  expect(read({ context: ['gravity=4', 'force=5'] }).vary).toEqual([])
})

test.each<[string[], RegExp]>([
  [['train', 'cartpole', '--vary', 'grvity'], /no context feature of cartpole[\s\S]*Did you mean "gravity"/],
  [['train', 'cartpole', '--context', 'gravity'], /given: +gravity\n[\s\S]*NAME=NUMBER/],
  [['train', 'cartpole', '--context', 'gravity=x'], /given: +gravity=x/],
  [
    ['train', 'cartpole', '--context', 'gravity=300'],
    /cannot be 300[\s\S]*from 1 to 25 \(m\/s\^2\)[\s\S]*agoge envs cartpole/,
  ],
  [['train', 'maze', '--context', 'size=3.5'], /expected: a whole number from 2 to 7/],
  [
    ['train', 'cartpole', '--vary', 'gravity', '--context', 'gravity=3'],
    /gravity of cartpole cannot both vary/,
  ],
  [['train', 'cartpole', '--visible'], /No context feature[\s\S]*--vary all --visible/],
  [['train', 'filesystem', '--vary', 'gravity'], /--vary means nothing for filesystem/],
  [['eval', 'cartpole', '--set', 'extra'], /no set of contexts[\s\S]*default, train, interpolation/],
  [['play', 'cartpole', '--vary', 'poleMas'], /no context feature of cartpole[\s\S]*Did you mean "poleMass"/],
])('%j is refused', async (words, message) => {
  const { code, err } = await agoge(...words)
  expect(code).toBe(1)
  expect(err).toMatch(message)
})
