import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createSeedsProgress } from '../shared/progress.ts'
import { drawText } from './play-frames.ts'
import { agoge } from '../testing/agoge.ts'

const folder = mkdtempSync(join(tmpdir(), 'agoge-array-cli-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

test('envs lists environments, spaces, features and algorithms, also for programs', async () => {
  const shown = await agoge('envs')
  const one = await agoge('envs', 'cartpole')
  expect(one.out).toMatch(/gravity +9\.8 +5 to 15 +1 to 25 +m\/s\^2/)
  expect(one.out).toContain('agoge train cartpole --vary gravity,cartMass')
  expect(JSON.parse((await agoge('envs', 'taxi', '--json')).out)).toMatchObject({ name: 'taxi' })
  expect(shown.out).toMatch(/cartpole +box\(4\) +discrete\(2\) +500 +5 +A\n/)
  expect(shown.out).toMatch(/^ {2}A {2}ppo, a2c/m)
  expect(Math.max(...shown.out.split('\n').map(({ length }) => length))).toBeLessThanOrEqual(100)
  const all = JSON.parse((await agoge('envs', '--json')).out) as { name: string }[]
  expect(all.find(({ name }) => name === 'cartpole')).toMatchObject({
    action: { type: 'discrete', n: 2 },
    context: { gravity: { default: 9.8 } },
    observation: { high: [4.8, null, expect.any(Number), null] },
    algorithms: expect.arrayContaining(['ppo']),
  })
})

const run = join(folder, 'run')

test('trains, resumes, evaluates and plays', async () => {
  const quick = ['--algorithm', 'ppo', '--preset', 'cleanrl', '--num-envs', '4', '--steps', '1024']
  const trained = await agoge('train', 'cartpole', ...quick, '--seed', '7', '--out', run)
  expect(trained).toMatchObject({ code: 0 })
  expect(trained.out).toMatch(
    /^cartpole, ppo \(cleanrl\): mean return [\d.]+ \([\d.]+ to [\d.]+\) over 100 episodes, after 1024 steps\.$/m,
  )
  expect(JSON.parse(readFileSync(join(run, 'config.json'), 'utf8'))).toMatchObject({
    kind: 'array',
    environment: 'cartpole',
    seed: 7,
    settings: { algorithm: 'ppo', preset: 'cleanrl' },
  })
  expect(existsSync(join(run, 'report.html'))).toBe(true)
  const again = await agoge('train', '--resume', run)
  expect(again.out.split('\n')[0]).toBe(trained.out.split('\n')[0])

  const file = join(folder, 'report.json')
  const evaluated = await agoge('eval', 'cartpole', '--model', run, '--episodes', '10', '--json', file)
  expect(evaluated.out).toMatch(/run +10 +[\d.]+ +[\d.]+ to [\d.]+/)
  expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ environment: 'cartpole', episodes: 10 })

  const played = await agoge('play', 'cartpole', '--model', run, '--every', '1000')
  expect(played.out).toMatch(/[\u2800-\u28ff]/)
  expect(played.out).toMatch(/episode 1: return [\d.]+ in \d+ steps/)
})

test('an environment of several agents trains and is evaluated, with the mean return of each', async () => {
  const out = join(folder, 'agents')
  const trained = await agoge('train', 'prisoners-dilemma', '--steps', '4000', '--out', out)
  expect(trained.err).toMatch(/return 25\.00 \(.*\), first 25\.00, second 25\.00, 100 episodes/)
  expect(trained.out).toMatch(/^prisoners-dilemma, ppo \(cleanrl\): mean return 25\.00/m)
  const { out: shown } = await agoge('eval', 'prisoners-dilemma', '--model', out, '--episodes', '10')
  expect(shown).toMatch(/95% interval +first +second +mean length/)
  expect(shown).toMatch(/agents +10 +25\.00 +25\.00 to 25\.00 +25\.00 +25\.00 +25\.00/)
  const list = (await agoge('envs')).out
  expect(list).toMatch(/rendezvous +2 +box\(6\) +discrete\(5\) +50 +3 +[A-Z]\n/)
  expect((await agoge('envs', 'rendezvous')).out).toContain('2 agents (first, second)')
  expect((await agoge('train', 'rendezvous', '--help')).out).toMatch(/--algorithm <name>[\s\S]*--num-envs/)
})

test('acting at random is a baseline', async () => {
  const { out } = await agoge('eval', 'cartpole', '--episodes', '50')
  const [, mean] = /random +50 +([\d.]+)/.exec(out) ?? []
  expect(Number(mean)).toBeGreaterThan(15)
  expect(Number(mean)).toBeLessThan(30)
})

test.each<[string[], RegExp]>([
  [['train', 'cartpol'], /no environment named "cartpol"[\s\S]*cartpole[\s\S]*Did you mean "cartpole"/],
  [['eval', 'filesytem'], /Did you mean "filesystem"/],
  [['play', 'cartpol'], /Did you mean "cartpole"/],
  [['train', 'cartpole', '--algorithm', 'pppo'], /no algorithm named "pppo"[\s\S]*Did you mean "ppo"/],
  [['train', 'cartpole', '--preset', 'cleanrll'], /no preset of ppo[\s\S]*Did you mean "cleanrl"/],
  [['train', 'cartpole', '--tasks', '3'], /--tasks means nothing for cartpole/],
  [
    ['train', 'filesystem', '--algorithm', 'gspoo'],
    /no algorithm named "gspoo"[\s\S]*dr-grpo[\s\S]*Did you mean "gspo"/,
  ],
  [['train', 'cartpole', '--model', run], /--model means nothing for cartpole/],
  [['train', '--resume', run, '--algorithm', 'dqn', '--steps', '9'], /given: +--algorithm --steps/],
  [['play', 'filesystem'], /filesystem has tasks in words[\s\S]*agoge chat filesystem/],
  [['envs', 'cartpol'], /Did you mean "cartpole"/],
  [['train', 'cartpole', '--out', run], /already holds a run[\s\S]*--resume/],
  [['eval', 'cartpole', '--model', join(folder, 'nothing')], /no trained agent[\s\S]*agoge train/],
  [['eval', 'cartpole', '--model', 'http://localhost:1/v1#x'], /endpoint of a language model cannot act/],
  [
    ['train', 'rendezvous', '--algorithm', 'sac'],
    /sac cannot act in rendezvous[\s\S]*discrete actions and 2 agents/,
  ],
  [['play', 'rendezvous'], /played by 2 agents and has no drawing[\s\S]*agoge eval rendezvous/],
  [['eval', 'pendulum', '--model', run], /trained on cartpole, not on pendulum/],
])('%j is refused', async (words, message) => {
  const { code, err } = await agoge(...words)
  expect(code).toBe(1)
  expect(err).toMatch(message)
  expect(err).not.toMatch(/\n +at /)
})

test('a drawing becomes dots where its shapes are', () => {
  const lines = drawText(
    {
      view: [0, 0, 8, 4],
      shapes: [
        {
          type: 'line',
          points: [
            [0, 0],
            [8, 0],
          ],
          stroke: 'x',
        },
        { type: 'text', x: 4, y: 4, text: 'up' },
        { type: 'circle', x: 100, y: 0, radius: 1, fill: 'x' },
      ],
    },
    8,
  ).split('\n')
  expect(lines).toHaveLength(2)
  expect(lines[0]).toBe('    up')
  expect(lines[1]).toBe('⣀'.repeat(8))
})

test('seeds are shown each in a line', () => {
  let text = ''
  const progress = createSeedsProgress({ write: (part) => (text += part) }, [1, 2])
  const step = { type: 'step', phase: 'train', total: 100, seconds: 1 } as const
  progress.event(1, { ...step, step: 10, metrics: { return: 20, stepsPerSecond: 10 } })
  progress.event(2, { ...step, step: 20, metrics: { stepsPerSecond: 10 } })
  progress.event(1, { ...step, step: 30, metrics: { stepsPerSecond: 10 } })
  progress.event(2, { type: 'note', text: 'greedy' })
  expect(text).toBe(
    'seed 1  step 10/100  return 20  10 steps/s\nseed 2  step 20/100  10 steps/s\nseed 2: greedy\n',
  )
})
