import { expect, test } from 'vitest'
import { engineLoss } from './losses.ts'
import { randomRows } from './testing/rows.ts'

const [row] = randomRows(1, 1, { rl: true })
const logprobs = row.logprobs.map((value, t) => value + 0.3 * Math.sin(3 * t))
const ratio = (t: number): number => Math.exp(logprobs[t] - row.logprobs[t])
const clip = (value: number, low: number, high: number): number => Math.min(high, Math.max(low, value))
const sum = (token: (t: number, advantage: number) => number): number =>
  row.advantages.reduce(
    (total, advantage, t) => total + (t < 2 ? 0 : row.weights.rl[t] * token(t, advantage)),
    0,
  )

// The formulas of the protocol's documentation, tinker-docs.thinkingmachines.ai/tinker/losses.
const formulas: [string, Record<string, number>, number][] = [
  ['importance_sampling', {}, sum((t, a) => -ratio(t) * a)],
  ['ppo', {}, sum((t, a) => -Math.min(ratio(t) * a, clip(ratio(t), 0.8, 1.2) * a))],
  [
    'ppo',
    { clip_low_threshold: 0.95, clip_high_threshold: 1.05 },
    sum((t, a) => -Math.min(ratio(t) * a, clip(ratio(t), 0.95, 1.05) * a)),
  ],
  ['cispo', {}, sum((t, a) => -clip(ratio(t), 0, 4) * a * logprobs[t])],
  [
    'cispo',
    { clip_low_threshold: 0.9, clip_high_threshold: 1.1 },
    sum((t, a) => -clip(ratio(t), 0.9, 1.1) * a * logprobs[t]),
  ],
  ['dro', { beta: 0.05 }, sum((t, a) => -(a * logprobs[t] - 0.025 * (logprobs[t] - row.logprobs[t]) ** 2))],
]

for (const [name, config, expected] of formulas) {
  test(`${name} ${JSON.stringify(config)} has the value of its formula`, () => {
    expect(engineLoss(name, config).value([logprobs], [row])).toBeCloseTo(expected, 5)
  })
}

test('gradients of losses that go in two passes are the differences of their values', () => {
  for (const [name, config] of [
    ['dro', { beta: 0.3 }],
    ['cispo', { clip_low_threshold: 0.9, clip_high_threshold: 1.1 }],
  ] as const) {
    const { loss } = engineLoss(name, config)
    if (typeof loss !== 'function') throw new Error('one pass')
    const { gradients } = loss([logprobs], [row])
    // The ratio of cispo carries no gradient: it stays fixed while the log-probability changes.
    for (const t of [2, 3, 4]) {
      const expected =
        name === 'dro'
          ? -row.weights.rl[t] * (row.advantages[t] - 0.3 * (logprobs[t] - row.logprobs[t]))
          : -row.weights.rl[t] * clip(ratio(t), 0.9, 1.1) * row.advantages[t]
      expect(gradients[0][t]).toBeCloseTo(expected, 6)
    }
  }
})

test('settings that do not fit', () => {
  const refused = (name: string, config: Record<string, number>) => () => engineLoss(name, config)
  expect(refused('dro', {})).toThrow('needs the setting beta')
  expect(refused('ppo', { clip_low_threshold: 1.3 })).toThrow('wrong way round')
  expect(refused('cispo', { epsilon: 1 })).toThrow('no setting epsilon')
  expect(refused('gspo', {})).toThrow('no loss gspo')
})
