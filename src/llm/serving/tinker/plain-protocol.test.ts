import { afterAll, beforeAll, expect, test } from 'vitest'
import { loadLocalBackend } from '../../backend/local-backend.ts'
import { scoreSequences } from '../../backend/loss-report.ts'
import type { LocalBackend } from '../../backend/local-backend.ts'
import type { LossReport, LossSettings } from '../../model-backend.ts'
import { createTinkerBackend } from '../../backend/tinker/tinker-backend.ts'
import { randomRows } from './testing/rows.ts'
import { openTinyHouse } from './testing/serve-tiny.ts'
import type { TinyHouse } from './testing/serve-tiny.ts'
import { startTroubledProxy } from './testing/troubled-proxy.ts'
import type { TroubledProxy } from './testing/troubled-proxy.ts'

let house: TinyHouse
let local: LocalBackend
let url: string
/** A proxy that behaves like a server without `client/config`, so that no extension of Agoge is used. */
let plain: TroubledProxy

beforeAll(async () => {
  house = await openTinyHouse()
  ;({ url } = await house.serve())
  plain = await startTroubledProxy(
    url,
    (path) => (path === 'client/config' ? { status: 404 } : undefined),
    // Other servers report only the loss.
    (_path, answer) => answer.replaceAll(/"metrics":\{("loss:sum":[^,}]+)[^}]*\}/g, '"metrics":{$1}'),
  )
  local = await house.local()
})

afterAll(async () => {
  await plain.close()
  await house.close()
})

function expectClose(found: LossReport, expected: LossReport): void {
  expect(found.entropy).toBeNaN()
  for (const key of [
    'loss',
    'tokens',
    'meanRatio',
    'clipFraction',
    'kl',
    'meanDifference',
    'maxRatio',
  ] as const)
    expect(found[key], key).toBeCloseTo(expected[key] ?? Number.NaN, 5)
}

const cases: [LossSettings, Parameters<typeof randomRows>[2]][] = [
  [{ name: 'cross_entropy' }, { ce: true }],
  [{ name: 'importance_sampling' }, { rl: true }],
  [{ name: 'ppo', clipLow: 0.1, clipHigh: 0.28 }, { rl: true }],
  [{ name: 'cispo', clipHigh: 0.5 }, { rl: true }],
  // Losses that the protocol lacks run as a forward pass and weighted cross-entropy.
  [{ name: 'cross_entropy' }, { ce: true, kl: true }],
  [
    { name: 'ppo', clipHigh: 0.3 },
    { rl: true, ce: true, kl: true },
  ],
  [
    { name: 'cispo', clipHigh: 0.5 },
    { rl: true, kl: true },
  ],
]

test('losses, gradients and steps through the plain protocol are those of this process, up to rounding', async () => {
  const backend = await createTinkerBackend({ baseUrl: plain.url })
  for (const [i, [loss, wish]] of cases.entries()) {
    // Probabilities near those of the sampler, so that some ratios are within the clip.
    const rows = randomRows(20 + i, 4, wish)
    const near = await local.forward(rows.map(({ tokens }) => tokens))
    for (const [r, row] of rows.entries())
      row.logprobs.forEach((_, t) => (row.logprobs[t] = t < 2 ? 0 : near[r][t] + 0.4 * Math.sin(7 * t)))
    expectClose(await backend.forwardBackward(rows, loss), await local.forwardBackward(rows, loss))
    const [mine, theirs] = [
      await local.optimStep({ learningRate: 0.01 }),
      await backend.optimStep({ learningRate: 0.01 }),
    ]
    expect(theirs.gradientNorm! / mine.gradientNorm).toBeCloseTo(1, 5)
  }
  await expect(backend.optimStep({ learningRate: 0.01, optimizer: 'muon' })).rejects.toMatchObject({
    code: 'unsupported-optimizer',
  })
  const sampling = { maxTokens: 5, stop: [], temperature: 1, seed: 4 }
  const requests = Array.from({ length: 6 }, (_, i) => ({ prompt: Int32Array.of(3, 4), key: i }))
  const samples = await backend.sample(requests, sampling)
  expect(await backend.sample(requests, sampling)).toEqual(samples)
  expect(new Set(samples.map(({ tokens }) => tokens.join())).size).toBeGreaterThan(1)
  const greedy = { ...sampling, temperature: 0 }
  const rest = await local.sample(requests.slice(0, 1), greedy)
  expect((await backend.sample(requests, greedy))[3].tokens).toEqual(rest[0].tokens)
  expect(plain.log.filter((line) => line.startsWith('asample')).length).toBe(3)
  await backend.dispose()
})

test('samples at temperatures other than 1 are refused, since the protocol trains at 1', async () => {
  const backend = await createTinkerBackend({ baseUrl: plain.url })
  const rows = randomRows(40, 2, { rl: true })
  const at = (temperature: number) =>
    rows.map((row) => ({ ...row, temperatures: new Float32Array(row.tokens.length).fill(temperature) }))
  const refusal = { code: 'unsupported-temperature', given: Math.fround(0.7) }
  await expect(backend.forwardBackward(at(0.7), { name: 'ppo' })).rejects.toMatchObject(refusal)
  await expect(scoreSequences(backend, at(0.7))).rejects.toMatchObject(refusal)
  expect(await backend.forwardBackward(at(1), { name: 'ppo' })).toEqual(
    await backend.forwardBackward(rows, { name: 'ppo' }),
  )
  await backend.dispose()
})

test('an adapter trains over the server as in this process, and continues from a checkpoint', async () => {
  const backend = await createTinkerBackend({ baseUrl: url, loraRank: 4 })
  const alone = await loadLocalBackend(house.model, { threads: 1, trainable: { lora: { rank: 4 } } })
  const rows = randomRows(30, 4, { ce: true })
  const both = async (): Promise<void> => {
    const loss = { name: 'cross_entropy' } as const
    expect(await backend.forwardBackward(rows, loss)).toEqual(await alone.forwardBackward(rows, loss))
    expect(await backend.optimStep({ learningRate: 0.05 })).toEqual(
      await alone.optimStep({ learningRate: 0.05 }),
    )
    expect(await backend.forward([rows[0].tokens])).toEqual(await alone.forward([rows[0].tokens]))
  }
  await both()
  const folder = `${house.root}/lora/saved`
  await backend.save(folder)
  await both()
  await backend.load(folder)
  const again = await backend.forward([rows[0].tokens])
  const whole = await createTinkerBackend({ baseUrl: url })
  await expect(whole.load(folder)).rejects.toMatchObject({ code: 'bad-checkpoint' })
  expect(await whole.forward([rows[0].tokens])).not.toEqual(again)
  await Promise.all([backend.dispose(), whole.dispose(), alone.dispose()])
})
