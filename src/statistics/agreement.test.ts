import { expect, test } from 'vitest'
import { createRandom } from '../engine/random/random.ts'
import { cohenKappa, pairsNeeded, type RatedPair } from './agreement.ts'

/** Pairs with these counts of no-no, no-yes, yes-no, yes-yes, each a group of its own, as scikit-learn orders them. */
function pairsOf(
  [[nn, ny], [yn, yy]]: readonly (readonly number[])[],
  groupOf: (at: number) => string = String,
): RatedPair[] {
  const cells = [
    { count: nn, a: false, b: false },
    { count: ny, a: false, b: true },
    { count: yn, a: true, b: false },
    { count: yy, a: true, b: true },
  ]
  return cells
    .flatMap(({ count, a, b }) => Array.from({ length: count }, () => ({ a, b })))
    .map((pair, at) => ({ ...pair, group: groupOf(at) }))
}

// kappa: scikit-learn 1.9.1, cohen_kappa_score; standard error: statsmodels, cohens_kappa(table).std_kappa.
test.each([
  [
    [
      [40, 9],
      [6, 45],
    ],
    0.6995192307692308,
    0.07139360269998822,
  ],
  [
    [
      [20, 5],
      [10, 15],
    ],
    0.4,
    0.12699606293110033,
  ],
  [
    [
      [88, 2],
      [7, 3],
    ],
    0.3571428571428571,
    0.1643467056260812,
  ],
  [
    [
      [1, 9],
      [8, 2],
    ],
    -0.7,
    0.15888675212238476,
  ],
] as const)(
  'kappa and its standard error of %j are those of scikit-learn and statsmodels',
  (table, kappa, error) => {
    const found = cohenKappa(pairsOf(table))
    const n = table.flat().reduce((sum, count) => sum + count, 0)
    expect(found.kappa.mean).toBeCloseTo(kappa, 12)
    expect(found.standardError).toBeCloseTo(error * Math.sqrt(n / (n - 1)), 12)
    expect(found.counts).toEqual({ nn: table[0][0], ny: table[0][1], yn: table[1][0], yy: table[1][1] })
    expect(found.raw).toBeCloseTo((table[0][0] + table[1][1]) / n, 12)
  },
)

test('every pair ten times is no more knowledge if the copies are one group', () => {
  const once = cohenKappa(
    pairsOf([
      [10, 3],
      [2, 15],
    ]),
  )
  const copies = pairsOf([
    [10, 3],
    [2, 15],
  ]).flatMap((pair) => Array.from({ length: 10 }, () => pair))
  const grouped = cohenKappa(copies)
  expect(grouped.standardError).toBeCloseTo(once.standardError, 12)
  expect(grouped.kappa).toEqual({
    ...once.kappa,
    low: expect.closeTo(once.kappa.low!, 12) as number,
    high: expect.closeTo(once.kappa.high!, 12) as number,
    mean: expect.closeTo(once.kappa.mean, 12) as number,
  })
  const apart = cohenKappa(copies.map((pair, at) => ({ ...pair, group: `${at}` })))
  expect(apart.standardError).toBeLessThan(grouped.standardError / 3)
})

test('perfect agreement in a few pairs is not certain; one word alone has no kappa', () => {
  const { kappa } = cohenKappa(
    pairsOf([
      [10, 0],
      [0, 10],
    ]),
  )
  expect([kappa.mean, kappa.high]).toEqual([1, 1])
  expect(kappa.low).toBeGreaterThan(0.5)
  expect(kappa.low).toBeLessThan(0.9)
  expect(
    cohenKappa(
      pairsOf([
        [0, 0],
        [0, 20],
      ]),
    ).kappa,
  ).toMatchObject({ low: null, noInterval: 'no kappa: both always say the same' })
  expect(cohenKappa([]).kappa).toMatchObject({ low: null, noInterval: 'no kappa: no pairs' })
  expect(
    cohenKappa(
      pairsOf([
        [1, 1],
        [1, 1],
      ]),
    ).kappa,
  ).toMatchObject({ low: null })
  expect(
    cohenKappa(
      pairsOf(
        [
          [200, 1],
          [0, 0],
        ],
        (at) => `${at % 50}`,
      ),
    ).kappa.mean,
  ).toBe(0)
})

interface Study {
  tasks: number
  trials: number
  /** Share of success, and how often the judge is right about a success and about a failure. */
  share: number
  sensitivity: number
  specificity: number
  /** Correlation of the trials of a task. */
  within: number
}

function kappaOf({ share, sensitivity, specificity }: Study): number {
  const judged = share * sensitivity + (1 - share) * (1 - specificity)
  const observed = share * sensitivity + (1 - share) * specificity
  const expected = share * judged + (1 - share) * (1 - judged)
  return (observed - expected) / (1 - expected)
}

/** With probability `within` a trial repeats what its task has drawn, otherwise it draws for itself: its mean stays, its correlation is `within` squared. */
function simulate(
  { tasks, trials, share, sensitivity, specificity, within }: Study,
  seed: string,
): RatedPair[] {
  const random = createRandom('kappa', seed)
  const draw = (): { a: boolean; b: boolean } => {
    const a = random.next() < share
    return { a, b: random.next() < (a ? sensitivity : 1 - specificity) }
  }
  return Array.from({ length: tasks }, (_, task) => {
    const common = draw()
    return Array.from({ length: trials }, () => ({
      group: `${task}`,
      ...(random.next() < within ? common : draw()),
    }))
  }).flat()
}

test.each<Study>([
  { tasks: 50, trials: 1, share: 0.5, sensitivity: 0.9, specificity: 0.9, within: 0 },
  { tasks: 100, trials: 1, share: 0.7, sensitivity: 0.9, specificity: 0.8, within: 0 },
  { tasks: 200, trials: 1, share: 0.8, sensitivity: 0.9, specificity: 0.7, within: 0 },
  { tasks: 60, trials: 3, share: 0.7, sensitivity: 0.9, specificity: 0.8, within: 0.6 },
  { tasks: 40, trials: 5, share: 0.5, sensitivity: 0.85, specificity: 0.85, within: 0.7 },
])('the interval covers the true kappa in 93 to 97 of 100 studies: $tasks tasks x $trials', (study) => {
  const truth = kappaOf(study)
  const rounds = 2000
  let covered = 0
  for (let round = 0; round < rounds; round += 1) {
    const { low, high } = cohenKappa(simulate(study, `${round}`)).kappa
    covered += Number(low !== null && low <= truth && truth <= high)
  }
  expect(covered / rounds).toBeGreaterThanOrEqual(0.93)
  expect(covered / rounds).toBeLessThanOrEqual(0.97)
})

test('the number of pairs that would settle it does so in about four of five studies', () => {
  const study = { tasks: 60, trials: 1, share: 0.6, sensitivity: 0.92, specificity: 0.85, within: 0 }
  const truth = kappaOf(study)
  expect(truth).toBeGreaterThan(0.7)
  // At a study whose kappa is about the true one.
  const typical = Array.from({ length: 200 }, (_, i) => cohenKappa(simulate(study, `typical ${i}`))).find(
    ({ kappa }) => Math.abs(kappa.mean - truth) < 0.005,
  )!
  const more = pairsNeeded(typical, 0.6)!
  expect(more).toBeGreaterThan(0)
  let shown = 0
  for (let round = 0; round < 400; round += 1)
    shown += Number(
      pairsNeeded(cohenKappa(simulate({ ...study, tasks: 60 + more }, `more ${round}`)), 0.6) === 0,
    )
  expect(shown / 400).toBeGreaterThan(0.65)
  expect(shown / 400).toBeLessThan(0.95)
  expect(
    pairsNeeded(
      cohenKappa(
        pairsOf([
          [100, 1],
          [1, 100],
        ]),
      ),
      0.6,
    ),
  ).toBe(0)
  expect(
    pairsNeeded(
      cohenKappa(
        pairsOf([
          [50, 50],
          [50, 50],
        ]),
      ),
      0.6,
    ),
  ).toBe(0)
  expect(
    pairsNeeded(
      cohenKappa(
        pairsOf([
          [1, 0],
          [0, 1],
        ]),
      ),
      0.6,
    ),
  ).toBeNull()
})
