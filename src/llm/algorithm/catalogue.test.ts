import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { advantages, isDefinition, losses, preferenceLosses } from './catalogue.ts'
import type { AdvantageSettings, Definition, PolicyLossSettings } from './catalogue.ts'
import { checkDefinition } from './check-definition.ts'
import { createAlgorithm, defineAlgorithm } from './define-algorithm.ts'
import { defineAdvantage, defineLoss, definePreference } from './define.ts'
import { grpoAdvantages } from './advantages/grpo.ts'
import { sumTokens } from './losses/tokens.ts'
import { ppoLoss } from './losses/ppo.ts'
import { dpoLoss } from './preference/pairs.ts'
import { optimisePolicy } from './policy-optimisation/optimise-policy.ts'
import { policyPresets } from './policy-optimisation/presets.ts'
import type { PolicyPresetName } from './policy-optimisation/presets.ts'

const all: Definition[] = [advantages, losses, preferenceLosses].flatMap((each) =>
  Object.values<Definition>(each),
)

test('every definition of this folder is listed in definitions.ts, and names are unique', async () => {
  const folder = fileURLToPath(new URL('.', import.meta.url))
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts') && !file.startsWith('testing'),
  )
  const found: Definition[] = []
  for (const file of files) {
    if (file === 'definitions.ts') continue
    const exported = (await import(new URL(file, import.meta.url).href)) as Record<string, unknown>
    const defined = Object.values(exported).filter(isDefinition)
    for (const definition of defined)
      expect(all, `add export * from './${file}' to definitions.ts`).toContain(definition)
    found.push(...defined)
  }
  expect(new Set(found).size).toBe(all.length)
  const names = found.map(({ kind, name }) => `${kind} ${name}`)
  expect(new Set(names).size).toBe(names.length)
})

test.each(all.map((definition) => [definition.kind, definition.name, definition] as const))(
  'the %s %s passes the checks of all definitions',
  (_kind, _name, definition) => {
    expect(checkDefinition(definition)).toEqual([])
    expect(definition.name).toMatch(/^[a-z][a-z0-9+-]*$/)
    expect(definition.about.length).toBeLessThan(100)
  },
)

test('a definition with a preset is an algorithm of the same name that uses it', () => {
  const withPreset = all.filter((each) => 'preset' in each && each.preset !== undefined)
  expect(withPreset.length).toBeGreaterThan(10)
  for (const { kind, name } of withPreset) {
    const { settings } = policyPresets[name as PolicyPresetName & keyof typeof policyPresets]
    expect(settings[kind as 'advantage' | 'loss'], name).toMatchObject({ name })
    expect(() => optimisePolicy(settings)).not.toThrow()
  }
})

// ---- Definitions that are wrong

const fields = { settings: {}, about: 'x', formula: 'x' } as const
const rewards = [1, 0, 0.5]
const wrongAdvantages: [string, Definition][] = [
  [
    'masked episodes have no advantage',
    defineAdvantage({
      ...fields,
      name: 'counts-masked',
      compute: (group) => grpoAdvantages(group.rewards.map((reward) => reward ?? 0)),
      cases: [{ rewards }],
    }),
  ],
  [
    'equal rewards of 0.1 teach nothing',
    defineAdvantage({
      ...fields,
      name: 'absolute',
      compute: (group) => group.rewards.map((reward) => reward ?? 0),
      cases: [{ rewards }],
    }),
  ],
  [
    'an empty group',
    defineAdvantage({
      ...fields,
      name: 'never-empty',
      compute: (group) => (group.rewards.length === 0 ? [0] : grpoAdvantages(group.rewards)),
      cases: [{ rewards }],
    }),
  ],
  [
    'one entry for each episode',
    defineAdvantage({
      ...fields,
      name: 'too-few',
      compute: (group) => grpoAdvantages(group.rewards).slice(1),
      cases: [{ rewards }],
    }),
  ],
  [
    'finite',
    defineAdvantage({
      ...fields,
      name: 'divides',
      compute: (group) =>
        grpoAdvantages(group.rewards).map((value, i) => (value === 0 ? 0 : value / (group.rewards[i] ?? 1))),
      cases: [{ rewards }],
    }),
  ],
  [
    'instead of',
    defineAdvantage({
      ...fields,
      name: 'unexpected',
      compute: (group) => grpoAdvantages(group.rewards),
      cases: [{ rewards, expected: [1, 0, 0.5] }],
    }),
  ],
  [
    'defaults of the fields',
    defineAdvantage({
      ...fields,
      name: 'other-default',
      settings: { epsilon: { type: 'number', default: 1 } },
      compute: (group, settings: { epsilon?: number }) => grpoAdvantages(group.rewards, settings),
      cases: [{ rewards }],
    }),
  ],
  [
    'do not fit its fields',
    defineAdvantage({
      ...fields,
      name: 'out-of-bounds',
      settings: { epsilon: { type: 'number', minimum: 1, default: 1e-4 } },
      compute: (group, settings: { epsilon?: number }) => grpoAdvantages(group.rewards, settings),
      cases: [{ settings: { epsilon: 0.5 }, rewards }],
    }),
  ],
  [
    'stays as it is',
    defineAdvantage({
      ...fields,
      name: 'changes-inputs',
      compute: (group) => {
        const values = group.rewards as (number | null)[]
        return grpoAdvantages(values.sort((a, b) => Number(a) - Number(b)))
      },
      cases: [{ rewards }],
    }),
  ],
]

const clip = { clipLow: 0.2, clipHigh: 0.2 }
const wrongLosses: [string, Definition][] = [
  [
    'finite differences',
    defineLoss({
      ...fields,
      name: 'wrong-gradient',
      compute: (inputs) => {
        const loss = ppoLoss(inputs, clip)
        return { ...loss, gradient: loss.gradient.map((derivative) => 2 * derivative) }
      },
      cases: [{}],
    }),
  ],
  [
    'add up',
    defineLoss({
      ...fields,
      name: 'a-mean',
      compute: (inputs) => {
        const { value, gradient, clipFraction } = ppoLoss(inputs, clip)
        const length = Math.max(1, gradient.length)
        return { value: value / length, gradient: gradient.map((each) => each / length), clipFraction }
      },
      cases: [{}],
    }),
  ],
  [
    'finite',
    defineLoss({
      ...fields,
      name: 'overflows',
      compute: (inputs) =>
        sumTokens(inputs, (_, advantage, difference) => ({
          loss: -advantage * Math.exp(30 * difference),
          derivative: -30 * advantage * Math.exp(30 * difference),
        })),
      cases: [{}],
    }),
  ],
  [
    'tokens without weight do not count',
    defineLoss({
      ...fields,
      name: 'ignores-weights',
      compute: (inputs) => ppoLoss({ ...inputs, weights: inputs.advantages }, clip),
      cases: [{}],
    }),
  ],
  [
    'tokens without advantage have no gradient',
    defineLoss({
      ...fields,
      name: 'pulls',
      compute: (inputs) =>
        sumTokens(inputs, (_, advantage, difference) => ({
          loss: -advantage * difference + difference ** 2 / 2,
          derivative: -advantage + difference,
        })),
      cases: [{}],
    }),
  ],
  [
    'where policy and sampler agree',
    defineLoss({
      ...fields,
      name: 'stops-too-much',
      compute: (inputs) => {
        const loss = ppoLoss(inputs, clip)
        return { ...loss, gradient: loss.gradient.map((derivative) => derivative / 2) }
      },
      stopsGradient: () => true,
      cases: [{}],
    }),
  ],
]

test.each<[string, Definition]>([
  ...wrongAdvantages,
  ...wrongLosses,
  [
    'finite differences',
    definePreference({
      ...fields,
      name: 'wrong-pairs',
      of: 'sums',
      usesReference: true,
      compute: (pairs) => {
        const loss = dpoLoss(pairs)
        return { ...loss, rejected: loss.chosen }
      },
      cases: [{}],
    }),
  ],
])('a definition that breaks "%s" is found', (problem, definition) => {
  expect(checkDefinition(definition).join('\n')).toContain(problem)
})

test('a definition without cases is refused', () => {
  const none = defineLoss({ ...fields, name: 'none', compute: (inputs) => ppoLoss(inputs, clip), cases: [] })
  expect(checkDefinition(none)).toEqual(['it has no cases'])
})

// ---- Settings

test('settings are checked when an algorithm is made: names, bounds, typing errors', () => {
  const { settings } = policyPresets['grpo-damped']
  const made = (change: object) => () => optimisePolicy({ ...settings, ...change })
  const rejected = (change: object, expected: object) =>
    expect(made(change)).toThrow(expect.objectContaining({ code: 'bad-config', ...expected }))
  rejected({ loss: { name: 'gspoo' } }, { hint: 'Did you mean "gspo"?' })
  rejected({ advantage: { name: 'grppo' } }, { hint: 'Did you mean "grpo"?' })
  rejected({ advantage: { name: 'max-at-k' } }, { expected: 'k: an integer of 2 or more' })
  rejected(
    { loss: { name: 'ppo', clipLow: -1, clipHigh: 0 } },
    { expected: 'clipLow: a number of 0 or more' },
  )
  rejected({ loss: { name: 'sapo', temperaturPositive: 1 } }, { hint: 'Did you mean "temperaturePositive"?' })
  rejected({ advantage: { name: 'grpo', std: 1 } }, { expected: 'std: true or false' })
  rejected(
    { loss: { name: 'topr', positive: { low: 1 } } },
    { expected: expect.stringContaining('high in it') },
  )
  rejected({ loss: { name: 'kimi', tau: 1, level: 'word' } }, { expected: 'level: one of sequence, token' })
  expect(made({ loss: { name: 'cispo', convention: 'verl', clipLow: 0, clipHigh: 1 } })).not.toThrow()
})

test('types of names and settings come from the definitions', () => {
  const names: PolicyPresetName[] = ['gspo', 'remax', 'dapo', 'grpo-kl']
  // @ts-expect-error the loss ppo has no preset
  names.push('ppo')
  const advantage: AdvantageSettings[] = [
    { name: 'grpo', std: false },
    { name: 'max-at-k', k: 3 },
  ]
  // @ts-expect-error k is missing
  advantage.push({ name: 'max-at-k' })
  // @ts-expect-error no such setting
  advantage.push({ name: 'rloo', std: false })
  const loss: PolicyLossSettings[] = [{ name: 'cispo', convention: 'trl', cap: 3 }]
  // @ts-expect-error a number is wanted
  loss.push({ name: 'gspo', clipLow: '0', clipHigh: 1 })
  // @ts-expect-error no such loss
  loss.push({ name: 'gspoo' })
  expect(names.length + advantage.length + loss.length).toBe(5 + 4 + 3)
})

test('custom components are found by name only in the algorithm that defines them', async () => {
  const half = defineLoss({
    ...fields,
    name: 'half',
    settings: { share: { type: 'number', minimum: 0 } },
    compute: (inputs, { share }: { share: number }) =>
      sumTokens(inputs, (_, advantage, difference) => ({
        loss: -share * advantage * difference,
        derivative: -share * advantage,
      })),
    cases: [{ settings: { share: 0.5 } }],
  })
  expect(checkDefinition(half)).toEqual([])
  const { aggregation } = policyPresets['grpo-damped'].settings
  const settings = { advantage: { name: 'rloo' }, loss: { name: 'half', share: 0.5 }, aggregation } as const
  const algorithm = defineAlgorithm({ name: 'halves', about: 'x', losses: [half], settings })
  expect(() => createAlgorithm(algorithm)).not.toThrow()
  expect(() => createAlgorithm({ ...algorithm, losses: [] })).toThrow(/no loss named "half"/)
  defineAlgorithm({
    name: 'wrong',
    about: 'x',
    losses: [half],
    // @ts-expect-error share is missing
    settings: { ...settings, loss: { name: 'half' } },
  })
})
