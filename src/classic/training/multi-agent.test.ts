import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, expect, test } from 'vitest'
import { independentAgents } from '../environment/index.ts'
import { prisonersDilemma } from '../environments/games/matrix-games.ts'
import { rendezvous } from '../environments/games/rendezvous.ts'
import { readEnvironmentFile } from './environment-file.ts'
import { evaluateAgent } from './evaluate-agent.ts'
import { trainNamed, type TrainNamedOptions } from './find-run.ts'
import { loadAgent } from './load-agent.ts'
import { learned, metrics } from './testing/short-run.ts'

const root = mkdtempSync(join(tmpdir(), 'agoge-agents-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** Without a penalty, agents that learn alone find the best equilibrium: 10 in each of 25 steps. */
const run = (name: string, given: Partial<TrainNamedOptions> = {}): TrainNamedOptions => ({
  environment: 'penalty',
  algorithm: 'ppo',
  contexts: { vary: [], fixed: { penalty: 0 }, visible: false },
  steps: 8000,
  evaluate: { episodes: 5, every: 4000, during: 3 },
  seed: 1,
  out: join(root, name),
  resume: false,
  command: 'test',
  ...given,
})

test.each(['ppo', 'a2c', 'dqn'])('%s learns the best of a coordination game', async (algorithm) => {
  const summary = await trainNamed(run(algorithm, { algorithm, steps: 12_000 }))
  expect(summary.return).toMatchObject({ n: 5, mean: 250 })
  expect(summary.evaluations.at(-1)).toMatchObject({ length: 25, agents: { first: 250, second: 250 } })
  // DQN's preset has one environment: one episode needs a row for each agent.
  expect(summary.numEnvs % 2).toBe(0)
  expect(metrics(join(root, algorithm))).toContain('"return-second":')
})

test('a run of several agents that was stopped and is resumed gives the same bits', async () => {
  await trainNamed(run('whole'))
  const controller = new AbortController()
  const stopped = run('stopped', {
    signal: controller.signal,
    onEvent(event) {
      if (event.type === 'step' && event.step > 2000) controller.abort(new Error('enough'))
    },
  })
  await expect(trainNamed(stopped)).rejects.toThrow('enough')
  expect(learned(join(root, 'stopped'))).not.toEqual(learned(join(root, 'whole')))
  await trainNamed(run('stopped', { resume: true }))
  expect(learned(join(root, 'stopped'))).toEqual(learned(join(root, 'whole')))
  expect(metrics(join(root, 'stopped'))).toBe(metrics(join(root, 'whole')))
  const { agent, definition } = await loadAgent(join(root, 'stopped'))
  expect(definition.agentNames).toEqual(['first', 'second'])
  await agent.dispose()
})

test('an evaluation plays whole episodes and keeps the agents apart', async () => {
  // The first cooperates, the second defects: 0 and 5 in each of 25 steps.
  const agent = {
    predict(observations: Float32Array, rows: number, actions: Float32Array) {
      for (let row = 0; row < rows; row++) actions[row] = observations[row] >= 5 ? 1 : 0
    },
  }
  const played = await evaluateAgent(agent, independentAgents(prisonersDilemma), { episodes: 3 })
  expect(played).toEqual({
    returns: Float64Array.of(62.5, 62.5, 62.5),
    lengths: Int32Array.of(25, 25, 25),
    agents: { first: Float64Array.of(0, 0, 0), second: Float64Array.of(125, 125, 125) },
    cutOff: 0,
  })
})

test("a module of the user's that exports an environment of several agents", async () => {
  const file = fileURLToPath(new URL('../environments/games/rendezvous.ts', import.meta.url))
  const { definition, playable } = await readEnvironmentFile(file)
  expect(definition).toMatchObject({ name: 'rendezvous', agentNames: ['first', 'second'] })
  expect(playable).toBe(definition)
})

test('two that walk towards each other meet as fast as they can', async () => {
  const agent = {
    predict(observations: Float32Array, rows: number, actions: Float32Array) {
      for (let row = 0; row < rows; row++) {
        const [x, y, otherX, otherY, isFirst] = observations.subarray(row * 6, row * 6 + 6)
        const [right, down] = [Math.round((otherX - x) * 4), Math.round((otherY - y) * 4)]
        const isNext = Math.abs(right) + Math.abs(down) === 1
        if (isNext && isFirst === 1) actions[row] = 4
        // The first goes along x before y, the second along y before x.
        else if (right !== 0 && (isFirst === 1 || down === 0)) actions[row] = right > 0 ? 1 : 3
        else actions[row] = down > 0 ? 2 : 0
      }
    },
  }
  const { returns, lengths, agents } = await evaluateAgent(agent, independentAgents(rendezvous), {
    episodes: 2000,
  })
  // Exact mean over the 600 pairs of cells: 1 - 0.05 * ceil(distance / 2).
  expect(returns.reduce((sum, value) => sum + value, 0) / 2000).toBeCloseTo(0.9037, 2)
  expect(Math.max(...lengths)).toBeLessThanOrEqual(5)
  expect(agents?.['first']).toEqual(agents?.['second'])
})

test.each([
  ['sac', /with discrete observations, discrete actions and 2 agents/],
  ['openai-es', /2 agents/],
])('%s cannot act there', async (algorithm, given) => {
  await expect(trainNamed(run('refused', { algorithm }))).rejects.toMatchObject({
    code: 'unsuitable-algorithm',
    given: expect.stringMatching(given),
    expected: expect.stringContaining('ppo, a2c'),
  })
})
