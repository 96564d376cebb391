import { expect, test } from 'vitest'
import { smallConfig } from './config.ts'
import { modelCard } from './model-card.ts'

test('the card states corpus, seed, cost and scores', () => {
  const card = modelCard({
    name: 'base',
    command: 'agoge pretrain --seed 3',
    seed: 3,
    config: smallConfig,
    parameters: 920_000,
    tokens: 16_000_000,
    steps: 2000,
    seconds: 1500,
    machine: '2 cores',
    loss: 0.4321,
    probes: { copy: 0.975, condition: 0.4 },
    probeCount: 100,
  })
  for (const fact of [
    '0.92M',
    '| Seed | 3 |',
    '16,000,000 in 2,000 steps',
    '25.0 minutes (10,667 tokens/s) on 2 cores',
    '0.432',
    '| copy | 98% |',
    '| condition | 40% |',
    'agoge pretrain --seed 3',
    'copying 3%',
  ])
    expect(card).toContain(fact)
})
