import { afterAll, beforeAll, expect, test } from 'vitest'
import { gspoLoss } from '../../algorithm/losses/gspo.ts'
import { klLoss } from '../../algorithm/losses/regularisers.ts'
import { overTokens } from '../../algorithm/losses/over-tokens.ts'
import { forwardBackward } from '../../backend/custom-loss.ts'
import { createTinkerBackend } from '../../backend/tinker/tinker-backend.ts'
import type { TinkerBackend } from '../../backend/tinker/tinker-backend.ts'
import { randomRows } from './testing/rows.ts'
import { openTinyHouse } from './testing/serve-tiny.ts'
import type { TinyHouse } from './testing/serve-tiny.ts'

let house: TinyHouse
let remote: TinkerBackend

beforeAll(async () => {
  house = await openTinyHouse()
  remote = await createTinkerBackend({ baseUrl: (await house.serve()).url })
})

afterAll(async () => {
  await remote.dispose()
  await house.close()
})

test('a loss that the server does not know trains over it as in this process, bit for bit', async () => {
  const local = await house.local()
  const rows = randomRows(8, 5, { rl: true, kl: true })
  const loss = overTokens({
    rl: (inputs) => gspoLoss(inputs, { clipLow: 0.5, clipHigh: 0.5 }),
    kl: (inputs) => klLoss(inputs, 'k2'),
    references: rows.map(({ logprobs }) => logprobs.map((value) => value / 2)),
  })
  const report = await forwardBackward(remote, rows, loss)
  expect(report).toEqual(await forwardBackward(local, rows, loss))
  expect(report.metrics!['divergenceLoss']).toBeGreaterThan(0)
  const step = { learningRate: 0.01 }
  const { gradientNorm } = await remote.optimStep(step)
  expect(gradientNorm).toBeGreaterThan(0)
  expect({ gradientNorm }).toEqual(await local.optimStep(step))
  const tokens = rows.map((row) => row.tokens)
  expect(await remote.forward(tokens)).toEqual(await local.forward(tokens))
})

test('the exact entropy bonus, which the protocol lacks, is refused', async () => {
  const rows = randomRows(8, 3, { rl: true })
  const own = overTokens({
    rl: (inputs) => gspoLoss(inputs, { clipLow: 0.5, clipHigh: 0.5 }),
    entropyCoefficient: 0.01,
  })
  for (const loss of [own, { name: 'ppo', entropyCoefficient: 0.01 } as const])
    await expect(forwardBackward(remote, rows, loss)).rejects.toMatchObject({ code: 'unsupported-loss' })
})
