import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openRunFolder } from '../../runs/run-folder.ts'
import type { PolicySettings } from '../algorithm/catalogue.ts'
import { optimisePolicy } from '../algorithm/policy-optimisation/optimise-policy.ts'
import { type PolicyPresetName, policyPresets } from '../algorithm/policy-optimisation/presets.ts'
import { oneAnswer } from '../algorithm/testing/policy-groups.ts'
import type { LearningContext } from '../algorithm/types.ts'
import type { LocalBackend } from '../backend/local-backend.ts'
import { boxJob } from './testing/box-job.ts'
import { algorithmOf, type NamedAlgorithm, train } from './train.ts'

const root = mkdtempSync(join(tmpdir(), 'agoge-named-'))
const model = join(root, 'model')
beforeAll(async () => {
  const fresh = (await boxJob(root).backend()) as LocalBackend
  await fresh.export(model)
  await fresh.dispose()
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

/** One of the long answers is near the limit. */
const groups = [
  {
    episodes: [oneAnswer('a', 9), oneAnswer('b', 5), oneAnswer('c', 10, { ending: 'token-limit' })],
    rewards: [1, 0, 0.95],
  },
]
const context: LearningContext = {
  reference: (sequences) => Promise.resolve(sequences.map(({ tokens }) => new Float32Array(tokens.length))),
  trainer: () => Promise.resolve([]),
  demonstrations: [],
  tokenLimit: 9,
}

/** The algorithm's update for the groups. */
async function taught(algorithm: ReturnType<typeof algorithmOf>['algorithm']): Promise<unknown> {
  const { sequences, loss } = await algorithm(groups, context)
  return [
    sequences,
    typeof loss === 'function'
      ? loss(
          sequences.map((row) => row.logprobs),
          sequences,
        )
      : loss,
  ]
}

/** A run folder with this record. */
function recorded(name: string, config: NamedAlgorithm): ReturnType<typeof openRunFolder> {
  mkdirSync(join(root, name))
  writeFileSync(join(root, name, 'config.json'), JSON.stringify(config))
  return openRunFolder({ path: join(root, name) })
}

const { 'grpo-damped': damped, grpo, dapo } = policyPresets
const dapoBefore: PolicySettings = { ...dapo.settings, shaping: { maskOverlong: true } }

test.each<[PolicyPresetName | undefined, PolicySettings, NamedAlgorithm]>([
  [undefined, damped.settings, {}],
  ['grpo-damped', damped.settings, { algorithm: 'grpo-damped', algorithmSettings: damped.settings }],
  ['grpo', grpo.settings, { algorithm: 'grpo', algorithmSettings: grpo.settings }],
  ['grpo-kl', grpo.settings, { algorithm: 'grpo-kl', algorithmSettings: grpo.settings }],
  ['dapo', dapo.settings, { algorithm: 'dapo', algorithmSettings: dapo.settings }],
])('a new run with %s records what that is', async (name, settings, named) => {
  const found = algorithmOf(name, null)
  expect(found.named).toEqual(named)
  expect(await taught(found.algorithm)).toEqual(await taught(optimisePolicy(settings)))
})

test.each<[PolicyPresetName, PolicySettings]>([
  ['grpo', damped.settings],
  ['grpo-kl', grpo.settings],
  ['dapo', dapoBefore],
  ['gspo', policyPresets.gspo.settings],
])('a run that recorded the name %s alone is resumed with what it meant then', async (name, settings) => {
  const found = algorithmOf(name, recorded(`earlier-${name}`, { algorithm: name }))
  expect(found.named).toEqual({ algorithm: name })
  expect(await taught(found.algorithm)).toEqual(await taught(optimisePolicy(settings)))
  expect(found.batch).toEqual(algorithmOf(name, null).batch)
})

test('the presets give different updates for these groups', async () => {
  const all = [damped.settings, grpo.settings, dapo.settings, dapoBefore].map((settings) =>
    taught(optimisePolicy(settings)),
  )
  expect(new Set((await Promise.all(all)).map((each) => JSON.stringify(each))).size).toBe(4)
})

test('recorded settings count, whatever has become of the preset', async () => {
  const algorithmSettings: PolicySettings = {
    ...damped.settings,
    aggregation: { mode: 'constant', length: 3 },
  }
  const found = algorithmOf('gspo', recorded('other', { algorithm: 'gspo', algorithmSettings }))
  expect(found.named).toEqual({ algorithm: 'gspo', algorithmSettings })
  expect(await taught(found.algorithm)).toEqual(await taught(optimisePolicy(algorithmSettings)))
})

test('train resumes runs of either kind and keeps their recorded settings', async () => {
  const { environment, tasks, plan } = boxJob(root)
  const out = join(root, 'run')
  const file = join(out, 'config.json')
  const begin = async (resume: boolean): Promise<void> => {
    const stop = new AbortController()
    const run = train({
      environment,
      tasks,
      plan,
      model,
      algorithm: 'grpo',
      out,
      resume,
      signal: stop.signal,
      onEvent: () => stop.abort(new Error('enough')),
    })
    await expect(run).rejects.toThrow('enough')
  }
  await begin(false)
  const first = readFileSync(file, 'utf8')
  const { algorithmSettings, ...config } = JSON.parse(first) as NamedAlgorithm
  expect(algorithmSettings).toEqual(grpo.settings)
  await begin(true)
  expect(readFileSync(file, 'utf8')).toBe(first)
  const earlier = `${JSON.stringify(config, null, 2)}\n`
  writeFileSync(file, earlier)
  // Earlier versions wrote no checksums.
  rmSync(join(out, 'checksums.sha256'))
  await begin(true)
  expect(readFileSync(file, 'utf8')).toBe(earlier)
})
