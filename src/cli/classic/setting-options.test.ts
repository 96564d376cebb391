import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { agoge } from '../testing/agoge.ts'
import { readEncoder } from './setting-options.ts'

const folder = mkdtempSync(join(tmpdir(), 'agoge-body-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('an encoder is read with its sizes', () => {
  expect(readEncoder('mlp', 'ppo')).toEqual({ kind: 'mlp' })
  expect(readEncoder('gru', 'ppo')).toEqual({ kind: 'gru' })
  expect(readEncoder('gru,size=16', 'dqn')).toEqual({ kind: 'gru', window: 8, size: 16 })
  expect(readEncoder('transformer, window=4, heads=1', 'ppo')).toEqual({
    kind: 'transformer',
    window: 4,
    heads: 1,
  })
  expect(readEncoder('cnn', 'ppo')).toEqual({ kind: 'cnn' })
  expect(readEncoder('cnn,channels=8/16,kernel=3,stride=1/2', 'ppo')).toEqual({
    kind: 'cnn',
    layers: [
      { channels: 8, kernel: 3, stride: 1 },
      { channels: 16, kernel: 3, stride: 2 },
    ],
  })
})

const runs: [name: string, definition: string, algorithm: string, encoder: string, memory: string][] = [
  ['gru', 'cartpole-positions', 'ppo', 'gru,size=8', 'size'],
  ['transformer', 'cartpole', 'pqn', 'transformer,window=3,size=8', 'window'],
  ['cnn', 'maze-window', 'ppo', 'cnn,channels=4,kernel=3', 'layers'],
  ['mlp', 'cartpole-positions', 'ppo', 'mlp', 'kind'],
]

test.each(runs)(
  '%s: a run trains, is recorded and played',
  async (name, environment, algorithm, encoder, field) => {
    const run = join(folder, name)
    const words = [
      '--algorithm',
      algorithm,
      '--encoder',
      encoder,
      '--num-envs',
      '4',
      '--steps',
      '512',
      '--out',
      run,
    ]
    const trained = await agoge('train', environment, ...words)
    expect(trained.code, trained.err).toBe(0)
    const config = JSON.parse(readFileSync(join(run, 'config.json'), 'utf8')) as {
      settings: { config: { encoder: Record<string, unknown> } }
    }
    expect(config.settings.config.encoder['kind']).toBe(encoder.split(',')[0])
    expect(Object.keys(config.settings.config.encoder)).toContain(field)
    const played = await agoge('play', environment, '--model', run, '--every', '1000')
    expect(played.out).toMatch(/episode 1: return/)
  },
)

test.each<[string[], RegExp]>([
  [['cartpole', '--encoder', 'lstm'], /no encoder named "lstm"[\s\S]*one of mlp, cnn, gru, transformer/],
  [['cartpole', '--encoder', 'gru,sise=32'], /no size of body gru named "sise"[\s\S]*Did you mean "size"/],
  [['cartpole', '--encoder', 'gru,size=0'], /size of body gru cannot be 0/],
  [['cartpole', '--encoder', 'gru,size=big'], /given: +size=big[\s\S]*hint:/],
  [['cartpole', '--encoder', 'gru,size=8/8'], /expected: one number/],
  [['cartpole', '--encoder', 'mlp,size=3'], /no size of body mlp/],
  [['cartpole', '--encoder', 'transformer,size=30,heads=4'], /given: +4 heads, tokens of 30/],
  [['cartpole', '--encoder', 'cnn'], /observations that are pictures[\s\S]*box of shape \[4\]/],
  [['maze-window', '--encoder', 'cnn', '--vary', 'goal', '--visible'], /pictures[\s\S]*box of shape \[51\]/],
  [['maze-window', '--encoder', 'cnn,channels=8'], /expected: channels and kernel/],
  [['maze-window', '--encoder', 'cnn,channels=8/8,kernel=3/3/3'], /given: +kernel=3\/3\/3/],
  [['maze-window', '--encoder', 'cnn,channels=8,kernel=30'], /as large as the kernels/],
  [['filesystem', '--encoder', 'gru'], /--encoder means nothing for filesystem/],
])('train %j is refused before a folder is made', async (words, message) => {
  const out = join(folder, 'refused')
  const { code, err } = await agoge('train', ...words, '--out', out)
  expect(code).toBe(1)
  expect(err).toMatch(message)
  expect(err).not.toContain('run folder')
})
