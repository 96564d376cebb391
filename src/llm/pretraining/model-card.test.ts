import { expect, test } from 'vitest'
import { smallConfig } from '../model/config.ts'
import { modelCard } from './model-card.ts'

test('the card states corpus, seed, cost and scores', () => {
  const card = modelCard({
    name: 'base',
    command: 'agoge pretrain --seed 3',
    seed: 3,
    config: smallConfig,
    parameters: 920_000,
    machine: '2 cores',
    stages: [
      { stage: 'general', tokens: 16_000_000, steps: 2000, seconds: 1500, loss: 0.4321 },
      { stage: 'decisions', tokens: 1_000_000, steps: 150, seconds: 90, loss: 0.3 },
    ],
    skills: { copy: 0.975, condition: 0.4 },
    skillCount: 100,
  })
  for (const fact of [
    '0.92M',
    '| Seed | 3 |',
    '| general | 16,000,000 | 2,000 | 25.0 | 10,667 | 0.432 |',
    '| decisions | 1,000,000 | 150 | 1.5 | 11,111 | 0.300 |',
    '- decisions: copying',
    '| copy | 98% |',
    '| condition | 40% |',
    'agoge pretrain --seed 3',
    'copying 3%',
  ])
    expect(card).toContain(fact)
})
