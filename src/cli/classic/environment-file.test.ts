import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { agoge } from '../testing/agoge.ts'

const folder = mkdtempSync(join(tmpdir(), 'agoge-world-file-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Two doors and a sign; calls give promises. */
const object = join(folder, 'doors.mjs')
writeFileSync(
  object,
  `export const environment = () => {
  let sign = 1
  const show = () => ({ observation: [(sign = Math.random() < 0.5 ? -1 : 1)] })
  return {
    name: 'doors',
    observationSpace: { type: 'box', shape: [1], low: Float64Array.of(-1), high: Float64Array.of(1), dtype: 'float32' },
    actionSpace: { type: 'discrete', n: 2, start: 0 },
    reset: async () => show(),
    step: async (action) => {
      const reward = (action === 1) === (sign > 0) ? 1 : 0
      return { ...show(), reward, terminated: true, truncated: false }
    },
  }
}
`,
)
const environmentFile = join(folder, 'walk.mjs')
writeFileSync(
  environmentFile,
  `export default {
  name: 'walk',
  observation: { type: 'box', shape: [1], low: Float64Array.of(-9), high: Float64Array.of(9), dtype: 'float32' },
  action: { type: 'discrete', n: 2, start: 0 },
  context: { length: { default: 1, low: 0.5, high: 2, about: 'of a step' } },
  stateSize: 1,
  maxSteps: 5,
  reset({ state }, i) { state[i] = 0 },
  step({ state, context, actions, rewards, terminated }, i) {
    state[i] += actions[i] === 1 ? context.length[i] : -context.length[i]
    rewards[i] = state[i]
    terminated[i] = 0
  },
  observe({ state, observations }, i) { observations[i] = state[i] },
}
`,
)

const quick = ['--algorithm', 'ppo', '--preset', 'cleanrl', '--num-envs', '4', '--steps', '512']

test('objects exported by a module can be trained on, evaluated and played', async () => {
  const run = join(folder, 'run')
  const trained = await agoge('train', object, ...quick, '--out', run)
  expect(trained.err).not.toContain('Error')
  expect(trained.out).toMatch(/^doors, ppo \(cleanrl\): mean return [\d.]+ .* after 512 steps\.$/m)
  expect(JSON.parse(readFileSync(join(run, 'config.json'), 'utf8'))).toMatchObject({
    environment: 'doors',
    settings: { file: object },
  })
  // What is over needs nothing of the objects.
  expect((await agoge('train', '--resume', run)).out).toContain('doors, ppo (cleanrl): mean return')
  const evaluated = await agoge('eval', object, '--model', run, '--episodes', '10')
  expect(evaluated.out).toMatch(/run +10 +[\d.]+/)
  const random = await agoge('eval', object, '--episodes', '200')
  expect(Number(/random +200 +([\d.]+)/.exec(random.out)?.[1])).toBeCloseTo(0.5, 0)
  expect((await agoge('play', object, '--model', run)).out).toMatch(
    /episode 1: return [01].* in 1 steps, terminated/,
  )
  const { out } = await agoge('envs', object)
  expect(out).toContain('observation box(1), action discrete(2)')
  // Nothing of it can vary.
  expect(out).not.toContain('--vary')
})

test('an environment of a module has contexts like any other', async () => {
  const run = join(folder, 'walk-run')
  const trained = await agoge(
    'train',
    environmentFile,
    ...quick,
    '--vary',
    'length',
    '--visible',
    '--out',
    run,
  )
  expect(trained.out).toMatch(/^extrapolation|^interpolation/m)
  expect((await agoge('play', environmentFile, '--model', run)).out).toMatch(/length \d/)
  expect((await agoge('eval', object, '--model', run)).err).toContain('was trained on walk, not on doors')
})

test('the missing parts of an environment in a module are reported', async () => {
  const bare = join(folder, 'bare.mjs')
  writeFileSync(bare, readFileSync(environmentFile, 'utf8').replace(/^ {2}context: .*$/m, ''))
  expect(readFileSync(bare, 'utf8')).not.toContain('context:')
  const { err } = await agoge('train', bare, ...quick)
  expect(err).toContain('walk: context is undefined')
})

test('a module without an environment is an error', async () => {
  const empty = join(folder, 'empty.mjs')
  writeFileSync(empty, 'export const wrld = 1\n')
  expect((await agoge('train', empty)).err).toMatch(
    /There is no environment in .*empty\.mjs[^]*it exports wrld/,
  )
  expect((await agoge('play', join(folder, 'none.js'))).err).toContain('no such file')
  const refused = await agoge('train', object, ...quick, '--vary', 'all', '--visible')
  expect(refused.code).toBe(1)
})
