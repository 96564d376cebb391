import { afterAll, expect, test } from 'vitest'
import type { TrainingSequence } from '../../episode/types.ts'
import { forwardBackward } from '../../backend/custom-loss.ts'
import { createLocalBackend } from '../../backend/local-backend.ts'
import { tinyConfig } from '../../testing/tiny-model.ts'
import { scoreSequences } from '../../backend/loss-report.ts'
import { findPolicyPreset, grpo, type PolicyPreset, policyPresets } from './presets.ts'
import { grpoAdvantages } from '../advantages/grpo.ts'
import { klRewards } from '../advantages/reward-shaping.ts'
import { optimisePolicy } from './optimise-policy.ts'
import { reinforcePlusPlusAdvantages } from '../advantages/reinforce-plus-plus.ts'
import type { EpisodeGroup, LearningContext } from '../types.ts'
import type { PolicySettings } from '../catalogue.ts'
import { answer, groups } from '../testing/policy-groups.ts'

const backend = createLocalBackend({ config: tinyConfig, seed: 2, threads: 1 })
const frozen = createLocalBackend({ config: tinyConfig, seed: 9, threads: 1 })
afterAll(() => Promise.all([backend.dispose(), frozen.dispose()]))

const context: LearningContext = {
  reference: (sequences) => scoreSequences(frozen, sequences),
  trainer: (sequences) => scoreSequences(backend, sequences),
  demonstrations: [answer('shown', 4), answer('shown too', 2)],
  tokenLimit: 20,
}
const update = (settings: PolicySettings, batch = groups) => optimisePolicy(settings)(batch, context)
const base: PolicySettings = findPolicyPreset('grpo-damped').settings
const idle = (sequences: readonly TrainingSequence[]) =>
  sequences.filter((row) => row.weights.rl.every((w) => w === 0))

const names = Object.keys(policyPresets)

test.each(names)('%s survives JSON, and trains on the batch that it requests', async (name) => {
  const preset: PolicyPreset = findPolicyPreset(name)
  expect(JSON.parse(JSON.stringify(preset))).toEqual(preset)
  const wide = groups.map((group) => ({
    ...group,
    // The best of 4 can differ only where at least 4 of 5 failed.
    episodes: [...group.episodes, group.episodes[1], group.episodes[1]],
    rewards: [...group.rewards, group.rewards[1], group.rewards[1]],
  }))
  const { sequences, loss } = await update(preset.settings, wide)
  expect(sequences.length).toBeGreaterThan(0)
  const report = await forwardBackward(backend, sequences, loss)
  expect(report.tokens).toBeGreaterThan(0)
  const { gradientNorm } = await backend.optimStep({ learningRate: 0 })
  expect(gradientNorm).toBeGreaterThan(1e-4)
  expect(gradientNorm).toBeLessThan(1e3)
})

test('the function grpo is the preset of its name', async () => {
  const own = await grpo()(groups, context)
  const { sequences, loss, metrics } = await update(findPolicyPreset('grpo').settings)
  expect(own.sequences).toEqual(sequences)
  expect(own.metrics).toEqual(metrics)
  if (typeof loss !== 'function') return expect(own.loss).toEqual(loss)
  if (typeof own.loss !== 'function') throw new Error('not a loss of log-probabilities')
  const logprobs = await backend.forward(sequences.map(({ tokens }) => tokens))
  expect(own.loss(logprobs, sequences)).toEqual(loss(logprobs, sequences))
})

test('grpo without a reference, damped, is the default preset, row for row', async () => {
  const damped = grpo({
    kl: 0,
    clipHigh: 0.28,
    aggregation: { mode: 'token-mean' },
    advantages: (rewards) => grpoAdvantages(rewards, { epsilon: 0.1 }),
  })
  expect(await damped(groups, context)).toEqual(await update(base))
})

test('dapo penalises the last fifth before the token limit, as 4096 of 20,480 tokens', async () => {
  const { settings }: PolicyPreset = findPolicyPreset('dapo')
  const batch: EpisodeGroup[] = [
    { episodes: [answer('x', 8), answer('y', 9), answer('z', 10)], rewards: [1, 1, 1] },
  ]
  const centred: PolicySettings = { ...settings, advantage: { name: 'grpo', std: false } }
  const found = async (tokenLimit: number) => {
    const { sequences } = await optimisePolicy(centred)(batch, { ...context, tokenLimit })
    return sequences.map((row) => row.advantages.at(-1))
  }
  // Of 10 tokens the last 2: punishments of 0, 0.5 and 1.
  expect(await found(10)).toEqual([0.5, -0.5])
  // No answer comes near 40.
  expect(await found(40)).toEqual([])
  const { tokenLimit: _, ...unlimited } = context
  await expect(optimisePolicy(settings)(batch, unlimited)).rejects.toMatchObject({
    code: 'bad-config',
    hint: expect.stringContaining('limit'),
  })
})

test('rewards are shaped before they become advantages', async () => {
  const cut = answer('cut', 8, { ending: 'token-limit' })
  const batch: EpisodeGroup[] = [{ episodes: [answer('x', 4), cut, answer('y', 6)], rewards: [1, 1, 1] }]
  const shaped = async (shaping: PolicySettings['shaping']) =>
    (
      await update({ ...base, advantage: { name: 'grpo', std: false }, shaping: shaping! }, batch)
    ).sequences.map((row) => row.advantages.at(-1))
  expect(await shaped({})).toEqual([])
  // Lengths 4, 8 and 6: with a limit of 8 and a cache of 4 their penalties are 0, 1 and 1/2.
  expect(await shaped({ softOverlong: { limit: 8, cache: 4 } })).toEqual([0.5, -0.5])
  expect(await shaped({ softOverlong: { limit: 8, cache: 4 }, maskOverlong: true })).toEqual([0.25, -0.25])
  const [short, long] = await shaped({ brevity: 0.2 })
  expect([short, long]).toEqual([Math.fround(0.1), Math.fround(-0.1)])
  const relative = await shaped({ relativeLength: 0.4 })
  expect(relative[0]).toBeCloseTo(0.1)
})

test('repetition is penalised', async () => {
  const again = answer('again', 8)
  again.nodes[1].tokens.fill(7, 1)
  const batch = [{ episodes: [answer('x', 8), again], rewards: [1, 1] }]
  const settings = { ...base, advantage: { name: 'grpo', std: false } as const }
  const { sequences } = await update({ ...settings, shaping: { repetition: { n: 2, most: 0.7 } } }, batch)
  // One of 7 pairs is distinct: -(1 - 1/7) * 0.7.
  expect(sequences.map((row) => row.advantages.at(-1))).toEqual([Math.fround(0.3), Math.fround(-0.3)])
})

test('a divergence in the reward compares the sampled tokens with the reference', async () => {
  const kl = { place: 'reward', estimator: 'k1', coefficient: 0.1 } as const
  const batch = groups.slice(0, 1)
  const { sequences } = await update({ ...base, advantage: { name: 'rloo' }, kl }, batch)
  const rows = (await grpo({ kl: 0, advantages: () => [1, 1, 1] })(batch, context)).sequences
  const reference = await frozen.forward(rows.map(({ tokens }) => tokens))
  const rewarded = rows.map((row, i) => {
    const tokens = [...row.weights.rl.keys()].filter((t) => row.weights.rl[t] !== 0)
    const pick = (values: Float32Array) => tokens.map((t) => values[t])
    const outcome = batch[0].rewards[i]!
    return [
      ...klRewards({ logprobs: pick(row.logprobs), referenceLogprobs: pick(reference[i]), outcome }, kl),
    ]
  })
  const sums = rewarded.map((tokens) => tokens.reduce((sum, value) => sum + value, 0))
  sums.forEach((sum, i) => {
    const others = sums.filter((_, at) => at !== i)
    expect(sequences[i].advantages.at(-1)).toBeCloseTo(sum - (others[0] + others[1]) / 2, 4)
  })
  // REINFORCE++ rewards the token that causes the divergence.
  const byToken = await update({ ...base, advantage: { name: 'reinforce++' }, kl }, batch)
  const expected = reinforcePlusPlusAdvantages(rewarded)
  byToken.sequences.forEach((row, i) => {
    const found = row.advantages.filter((_, t) => row.weights.rl[t] !== 0)
    found.forEach((value, t) => expect(value).toBeCloseTo(expected[i][t], 3))
  })
})

test('a divergence in the loss also trains zero-variance groups, and pulls towards the reference', async () => {
  const kl = { place: 'loss', estimator: 'k2', coefficient: 0.5 } as const
  const { sequences, loss } = await update({ ...base, kl })
  // All but the masked one; those of the third group have no advantage.
  expect(sequences.length).toBe(11)
  const report = await forwardBackward(backend, sequences, loss)
  expect(report.metrics!['divergenceLoss']).toBeGreaterThan(0)
  await backend.optimStep({ learningRate: 0 })
})

test('corrections weight tokens by trainer and sampler, and the trainer replaces the sampler', async () => {
  const plain = (await update(base)).sequences
  const trainer = await backend.forward(plain.map(({ tokens }) => tokens))
  const { sequences, metrics } = await update({
    ...base,
    corrections: [{ level: 'token', mode: 'truncate', high: 1.1 }],
  })
  for (const [i, row] of sequences.entries()) {
    expect(row.logprobs).toEqual(trainer[i])
    row.weights.rl.forEach((weight, t) => {
      const ratio = Math.exp(trainer[i][t] - plain[i].logprobs[t])
      expect(weight).toBeCloseTo(plain[i].weights.rl[t] * Math.min(1.1, ratio), 6)
    })
  }
  expect(metrics['keptTokens']).toBe(1)
  const differences = plain.flatMap(({ logprobs, weights }, i) =>
    [...logprobs.keys()].filter((t) => weights.rl[t] !== 0).map((t) => trainer[i][t] - logprobs[t]),
  )
  const mean = (values: number[]): number => values.reduce((a, b) => a + b, 0) / values.length
  expect(metrics['mismatch']).toBeCloseTo(mean(differences.map(Math.abs)), 5)
  expect(metrics['mismatchKl']).toBeCloseTo(mean(differences.map((d) => Math.exp(d) - 1 - d)), 5)
  expect(metrics['mismatchMaxRatio']).toBeCloseTo(Math.exp(Math.max(...differences)), 4)
  const strict = await update({
    ...base,
    corrections: [{ level: 'geometric', mode: 'reject', low: 2, high: 3 }],
  })
  expect(strict.metrics['keptTokens']).toBe(0)
  expect(idle(strict.sequences).length).toBe(strict.sequences.length)
})

test('stale failures are compared with the sampler in every minibatch, also with corrections', async () => {
  const far = answer('far', 4)
  // Likely under the sampler; about -4 per token under the trainer.
  far.samples[0].logprobs.fill(-1, 1)
  const near = answer('near', 4)
  const first: EpisodeGroup = { episodes: [answer('good', 4), far, near], rewards: [1, 0, 0] }
  const second: EpisodeGroup = { episodes: [near, answer('good too', 4), far], rewards: [0, 1, 0] }
  const settings: PolicySettings = {
    ...base,
    corrections: [{ level: 'token', mode: 'truncate', high: 2 }],
    offPolicyMask: 1.5,
  }
  for (const group of [first, second]) {
    const { sequences, loss } = await optimisePolicy(settings)([group], {
      ...context,
      batch: [first, second],
    })
    if (typeof loss !== 'function') throw new Error('not a loss of log-probabilities')
    const stale = group.episodes.indexOf(far)
    const moved = (logprobs: readonly Float32Array[]): boolean[] =>
      loss(logprobs, sequences).gradients.map((gradient) => gradient.some((derivative) => derivative !== 0))
    const trainer = await backend.forward(sequences.map(({ tokens }) => tokens))
    expect(moved(trainer)).toEqual([0, 1, 2].map((i) => i !== stale))
    // If the policy has moved to the sampler, nothing is stale.
    const back = trainer.map((row, i) => (i === stale ? row.map(() => -1) : row))
    expect(moved(back)[stale]).toBe(true)
    // What the policy has moved away from becomes stale.
    expect(moved(trainer.map((row) => row.map(() => -9))).filter(Boolean).length).toBe(1)
  }
})

test('reference and trainer score tokens at the temperature they were drawn at, demonstrations at 1', async () => {
  const warm = groups.map((group) => ({
    ...group,
    episodes: group.episodes.map((episode) => ({
      ...episode,
      samples: episode.samples.map((sample) => ({ ...sample, sampling: { temperature: 0.5 } })),
    })),
  }))
  const settings: PolicySettings = {
    ...base,
    kl: { place: 'loss', estimator: 'k2', coefficient: 0.1 },
    corrections: [{ level: 'token', mode: 'truncate', high: 2 }],
    imitation: 0.5,
  }
  const asked: (number | undefined)[][] = []
  const spied: LearningContext = {
    ...context,
    reference: (sequences) => {
      asked.push(sequences.map(({ temperatures }) => temperatures?.at(-1)))
      return context.reference(sequences)
    },
    trainer: (sequences) => {
      asked.push(sequences.map(({ temperatures }) => temperatures?.at(-1)))
      return context.trainer(sequences)
    },
  }
  const { sequences } = await optimisePolicy(settings)(warm, spied)
  expect(asked.length).toBe(2)
  for (const each of asked) expect(new Set(each)).toEqual(new Set([0.5]))
  for (const { weights, temperatures } of sequences)
    expect(temperatures?.at(-1)).toBe(weights.ce.at(-1) === 0 ? 0.5 : undefined)
})

test.each<[string, PolicySettings['advantage'], PolicySettings['kl']]>([
  ['batch-grpo', { name: 'batch-grpo' }, undefined],
  ['reinforce++', { name: 'reinforce++' }, { place: 'reward', estimator: 'k1', coefficient: 0.1 }],
  [
    'reinforce++-baseline',
    { name: 'reinforce++-baseline' },
    { place: 'loss', estimator: 'k2', coefficient: 0.1, adapt: { target: 0.1, horizon: 100 } },
  ],
])('the statistics of %s are of the whole batch, whatever minibatches it has', async (_, advantage, kl) => {
  const settings: PolicySettings = { ...base, advantage, ...(kl === undefined ? {} : { kl }) }
  let asked = 0
  const counted = {
    ...context,
    reference: (rows: Parameters<LearningContext['reference']>[0]) => (asked++, context.reference(rows)),
  }
  const whole = await optimisePolicy(settings)(groups, counted)
  asked = 0
  const algorithm = optimisePolicy(settings)
  const batch = [...groups]
  const inParts = async (): Promise<TrainingSequence[]> => {
    const parts: TrainingSequence[] = []
    for (const part of [batch.slice(0, 2), batch.slice(2)])
      parts.push(...(await algorithm(part, { ...counted, batch, memory: {} })).sequences)
    return parts
  }
  const parts = await inParts()
  const advantages = (rows: readonly TrainingSequence[]) => rows.map((row) => [...row.advantages])
  expect(advantages(parts)).toEqual(advantages(whole.sequences))
  // The same minibatch again gives the same rows, and the reference is asked once for the batch.
  expect(await inParts()).toEqual(parts)
  expect(asked).toBe(kl === undefined ? 0 : 1)
})

test('demonstrations are mixed in by their share', async () => {
  const { sequences } = await update({ ...base, imitation: 0.25 })
  const total = (of: (row: TrainingSequence) => Float32Array) =>
    sequences.reduce((sum, row) => sum + of(row).reduce((s, w) => s + w, 0), 0)
  const plain = (await update(base)).sequences
  expect(total((row) => row.weights.ce)).toBeCloseTo(0.25)
  expect(total((row) => row.weights.rl)).toBeCloseTo(
    0.75 * plain.reduce((sum, row) => sum + row.weights.rl.reduce((s, w) => s + w, 0), 0),
  )
  const without = optimisePolicy({ ...base, imitation: 0.25 })(groups, { ...context, demonstrations: [] })
  await expect(without).rejects.toMatchObject({ code: 'bad-config' })
  expect(() => optimisePolicy({ ...base, imitation: 2 })).toThrow(/share/)
})

test('demonstrated tokens can be weighted by p (1 - p)', async () => {
  const { sequences, loss } = await update({ ...base, imitation: 0.25, sftHighEntropy: true })
  const logprobs = await backend.forward(sequences.map(({ tokens }) => tokens))
  if (typeof loss !== 'function') throw new Error('not a loss of log-probabilities')
  const { gradients } = loss(logprobs, sequences)
  let shown = 0
  for (const [i, { weights }] of sequences.entries())
    weights.ce.forEach((weight, t) => {
      if (weight === 0) return
      const p = Math.exp(logprobs[i][t])
      expect(gradients[i][t]).toBeCloseTo(-weight * p * (1 - p), 6)
      shown++
    })
  expect(shown).toBe(6)
  await forwardBackward(backend, sequences, loss)
  expect((await backend.optimStep({ learningRate: 0 })).gradientNorm).toBeGreaterThan(0)
})

test('an adaptive entropy bonus is off above its target, and keeps its own memory without one of the loop', async () => {
  const target = (value: number) => ({ coefficient: 0.5, target: value, step: 0.1 })
  const algorithm = optimisePolicy({ ...base, entropy: target(1) })
  const high = await algorithm(groups, context)
  // Sampled log-probabilities are about -4.
  expect(high.metrics['sampledEntropy']).toBeGreaterThan(3.9)
  expect(high.metrics['entropyCoefficient']).toBe(0)
  expect(high.loss).toMatchObject({ name: 'ppo' })
  const memory = { entropy: 0.3 }
  const low = await optimisePolicy({ ...base, entropy: target(9) })(groups, { ...context, memory })
  expect(low.metrics['entropyCoefficient']).toBe(0.3)
  expect(memory.entropy).toBeCloseTo(0.4)
  expect(typeof low.loss).toBe('function')
  const own = optimisePolicy({ ...base, entropy: target(9) })
  const seen = [await own(groups, context), await own(groups, context)]
  expect(seen.map(({ metrics }) => metrics['entropyCoefficient'])).toEqual([0.5, 0.6])
  const exact = await optimisePolicy({ ...base, exactEntropy: target(9) })(groups, context)
  expect(exact.loss).toMatchObject({ name: 'ppo', entropyCoefficient: 0.5 })
})

test('only the tokens of highest entropy train the policy', async () => {
  const plain = (await update({ ...base, kl: { place: 'loss', estimator: 'k2', coefficient: 0.1 } }))
    .sequences
  const entropies = await backend.entropies!(plain.map(({ tokens }) => tokens))
  const asking = { ...context, entropies: () => Promise.resolve(entropies) }
  const settings: PolicySettings = { ...base, entropyShare: 0.25 }
  const { sequences, loss, metrics } = await optimisePolicy(settings)(groups, asking)
  const counted = plain.flatMap((row, i) =>
    Array.from(entropies[i]).filter((_, t) => row.weights.rl[t] !== 0),
  )
  const bound = metrics['leastEntropy']
  const above = counted.filter((entropy) => entropy >= bound).length
  expect(above).toBe(Math.ceil(0.25 * (counted.length - 1)))
  // Zero-variance groups count among the tokens, but are not computed.
  expect(plain.length).toBe(11)
  expect(sequences.length).toBe(8)
  let kept = 0
  for (const row of sequences) {
    const i = plain.findIndex(({ tokens }) => tokens.join() === row.tokens.join())
    row.weights.rl.forEach((weight, t) => {
      expect(weight).toBe(entropies[i][t] >= bound ? plain[i].weights.rl[t] : 0)
      if (weight !== 0) kept++
    })
  }
  expect(kept).toBeGreaterThan(0)
  await forwardBackward(backend, sequences, loss)
  await backend.optimStep({ learningRate: 0 })
  await expect(update(settings)).rejects.toMatchObject({ code: 'bad-config' })
  expect(() => optimisePolicy({ ...base, entropyShare: 20 })).toThrow(/share/)
})

test('a fully masked batch requests nothing', async () => {
  for (const name of names.filter((each) => each !== 'remax')) {
    const { sequences } = await update(findPolicyPreset(name).settings, [
      { episodes: [answer('m', 3), answer('n', 3)], rewards: [null, null] },
    ])
    expect(sequences, name).toEqual([])
  }
})

test('the exact entropy bonus joins any loss, also over tokens with zero advantage', async () => {
  const gradients: Record<string, number> = {}
  for (const name of ['grpo-damped', 'gspo'] as const) {
    const { settings }: PolicyPreset = findPolicyPreset(name)
    const { sequences, loss } = await update({ ...settings, exactEntropy: 0.5 })
    expect(sequences.length).toBe(11)
    const report = await forwardBackward(backend, sequences, loss)
    // About the entropy of a uniform distribution over 64 tokens, times the coefficient; weights sum to 1.
    expect(report.entropyBonus).toBeCloseTo(0.5 * Math.log(64), 0)
    gradients[name] = (await backend.optimStep({ learningRate: 0 })).gradientNorm
  }
  expect(gradients['grpo-damped']).toBeGreaterThan(1e-4)
  const { loss } = await update({ ...base, exactEntropy: 0.5 })
  expect(loss).toMatchObject({ name: 'ppo', entropyCoefficient: 0.5 })
  expect((await update(base)).loss).not.toHaveProperty('entropyCoefficient')
})
