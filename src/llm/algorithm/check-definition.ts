import { AgogeError } from '../../error.ts'
import { createRandom } from '../../engine/random/index.ts'
import { parseOwnJson } from '../../untrusted/own-json.ts'
import type { Definition } from './catalogue.ts'
import type {
  AdvantageCase,
  AdvantageDefinition,
  AdvantageGroup,
  GroupAdvantages,
  LossDefinition,
  PreferenceDefinition,
} from './define.ts'
import type { TokenInputs } from './losses/over-tokens.ts'
import type { LossValue } from './losses/tokens.ts'
import type { PreferencePairs } from './preference/pairs.ts'
import { checkSettings, defaultSettings } from './setting-fields.ts'

/**
 * Checks properties that every advantage, loss and preference loss must have, with the settings of its `cases`.
 *
 * Advantages: masked episodes have no effect; equal rewards, a single episode, an empty group and a fully masked group
 * give zeros; results have the right shapes and are finite. Losses: the gradient agrees with finite differences, tokens
 * with weight 0 have no effect, the losses of parts of a batch sum to that of the batch, no tokens give zeros, and
 * extreme ratios stay finite. All: settings match their fields, defaults are the documented ones, results are
 * reproducible, inputs are not modified, and the cases give their expected numbers.
 *
 * @returns one line per failed check; empty if all hold.
 * @example
 * expect(checkDefinition(median)).toEqual([])
 */
export function checkDefinition(definition: Definition): string[] {
  const problems = new Set<string>()
  if (definition.cases.length === 0) return ['it has no cases']
  for (const { settings = {} } of definition.cases) {
    const label = JSON.stringify(settings)
    const check: Check = (what, holds) => {
      if (!succeeds(holds)) problems.add(`${what}, with settings ${label}`)
    }
    try {
      checkSettings(`${definition.kind} "${definition.name}"`, definition.settings, { ...settings })
    } catch (error) {
      problems.add(`settings ${label} do not fit its fields: ${(error as AgogeError).expected}`)
    }
    check('settings survive JSON', () => equal(parseOwnJson(label), settings))
    if (definition.kind === 'advantage') checkAdvantage(definition, settings, check)
    else if (definition.kind === 'loss') checkLoss(definition, settings, check)
    else checkPreference(definition, settings, check)
  }
  if (definition.kind === 'advantage')
    for (const each of definition.cases) checkCase(definition, each, problems)
  if (definition.kind === 'loss')
    for (const { settings = {}, inputs, value, gradient } of definition.cases) {
      const found = definition.compute({ ...tokens(3), ...inputs }, settings)
      if (value !== undefined && !near([found.value], [value]))
        problems.add(
          `its value is ${found.value} instead of ${value}, with settings ${JSON.stringify(settings)}`,
        )
      if (gradient !== undefined && !near(found.gradient, gradient))
        problems.add(`its gradient is ${found.gradient.join(', ')} instead of ${gradient.join(', ')}`)
    }
  return [...problems]
}

type Check = (what: string, holds: () => boolean) => void

/** A definition may refuse settings for a group, such as a k above its size. */
function succeeds(holds: () => boolean): boolean {
  try {
    return holds()
  } catch (error) {
    return AgogeError.isInstance(error) && error.code === 'bad-config'
  }
}

// ---- Advantages

interface Episode {
  reward: number | null
  length: number
  turns: readonly number[]
}

function groupOf(episodes: readonly Episode[], greedyReward: number | null = 0.5): AdvantageGroup {
  return {
    rewards: episodes.map(({ reward }) => reward),
    lengths: episodes.map(({ reward, length }) => (reward === null ? 0 : length)),
    greedyReward,
    turns: episodes.map(({ reward, length, turns }) =>
      reward === null
        ? null
        : {
            turns,
            outcome: reward,
            starts: turns.map((_, k) => Math.min(k, length)),
            states: () => turns.map((_, k) => `state ${k}`),
          },
    ),
    tokenRewards: episodes.map(({ reward, length }) =>
      reward === null ? new Float32Array(0) : new Float32Array(length).fill(reward, length - 1),
    ),
  }
}

function episodesOf({ rewards, lengths, turns }: AdvantageCase<object>): Episode[] {
  return rewards.map((reward, m) => ({ reward, length: lengths?.[m] ?? 3, turns: turns?.[m] ?? [0] }))
}

function computeGroups(
  definition: AdvantageDefinition,
  groups: readonly AdvantageGroup[],
  settings: object,
): readonly GroupAdvantages[] {
  return definition.over === 'batch'
    ? definition.compute(groups, settings)
    : groups.map((group) => definition.compute(group, settings))
}

const flat = (values: GroupAdvantages): number[] =>
  values.flatMap((value) => (typeof value === 'number' ? [value] : Array.from(value)))

function checkAdvantage(definition: AdvantageDefinition, settings: object, check: Check): void {
  const members = definition.cases.flatMap((each) =>
    equal(each.settings ?? {}, settings) ? [episodesOf(each)] : [],
  )[0]
  const of = (episodes: readonly Episode[], greedy?: number | null): GroupAdvantages =>
    computeGroups(definition, [groupOf(episodes, greedy)], settings)[0]
  const nothing = (values: GroupAdvantages): boolean => flat(values).every((value) => value === 0)

  const masked: Episode = { reward: null, length: 5, turns: [1] }
  const plain = of(members)
  check(
    'it has one entry for each episode, of the length that `per` says',
    () =>
      plain.every((value, m) => {
        if (typeof value === 'number') return true
        if (definition.per === 'turn') return value.length === members[m].turns.length
        return definition.per === 'token' && value.length === members[m].length
      }) && plain.length === members.length,
  )
  check('advantages are finite', () => flat(plain).every(Number.isFinite))
  check('the same group gives the same again, and stays as it is', () => {
    const group = groupOf(members)
    const before = JSON.stringify(group)
    const [first] = computeGroups(definition, [group], settings)
    const [second] = computeGroups(definition, [group], settings)
    return equal(first, second) && JSON.stringify(group) === before
  })
  check('masked episodes have no advantage, and change no other', () => {
    const with1 = of([masked, ...members, masked])
    return near(flat(with1.slice(1, -1)), flat(plain)) && nothing([with1[0], with1[with1.length - 1]])
  })
  check('a group of masked episodes has no advantage', () => nothing(of(members.map(() => masked))))
  check('an empty group has no entries', () => of([]).length === 0)
  check('no groups have no entries', () => computeGroups(definition, [], settings).length === 0)
  // The mean of equal rewards of 0.1 is rounded. Without care the deviation would be noise that is scaled up to an
  // advantage.
  for (const reward of [0.1, 0, 1, -0.3]) {
    const same = members.map(() => ({ reward, length: 1, turns: [0] }))
    check(`equal rewards of ${reward} teach nothing`, () => nothing(of(same, reward)))
    check(`a single episode with reward ${reward} teaches nothing`, () =>
      nothing(of(same.slice(0, 1), reward)),
    )
    check(`a single episode among masked ones teaches nothing`, () =>
      nothing(of([...same.slice(0, 1), ...members.slice(1).map(() => masked)], reward)),
    )
  }
  for (const scale of [1e9, 1e-9])
    check(`rewards times ${scale} give finite advantages`, () =>
      flat(
        of(members.map((each) => ({ ...each, reward: each.reward === null ? null : each.reward * scale }))),
      ).every(Number.isFinite),
    )
  check('settings that are left out have the defaults of the fields', () =>
    equal(
      computeGroups(definition, [groupOf(members)], { ...defaultSettings(definition.settings), ...settings }),
      computeGroups(definition, [groupOf(members)], settings),
    ),
  )
}

function checkCase(
  definition: AdvantageDefinition,
  each: AdvantageCase<object>,
  problems: Set<string>,
): void {
  if (each.expected === undefined) return
  const { settings = {}, expected, greedyReward } = each
  const [found] = computeGroups(definition, [groupOf(episodesOf(each), greedyReward)], settings)
  if (!near(flat(found), flat(expected)))
    problems.add(
      `rewards ${each.rewards.join(', ')} give ${flat(found).join(', ')} instead of ${flat(expected).join(', ')}`,
    )
}

// ---- Losses

/** Three sequences separated by tokens of weight 0. `spread` is how far trainer and sampler are apart, in nats. */
function tokens(seed: number, spread = 0.5): TokenInputs {
  const random = createRandom(seed)
  const length = 12
  const row = (of: (t: number) => number) => Array.from({ length }, (_, t) => of(t))
  const logprobs = row(() => -0.2 - 2 * random.next())
  const counted = row((t) => (t % 5 === 3 ? 0 : 1))
  const perSequence = [1, -0.7, 0.4]
  return {
    logprobs,
    samplerLogprobs: logprobs.map((logprob) => logprob + spread * (random.next() - 0.5)),
    advantages: row((t) => perSequence[Math.floor(t / 4)]),
    weights: counted.map((weight) => weight / 9),
    referenceLogprobs: Float32Array.from(logprobs, (logprob) => logprob + 0.1),
    starts: [0, 4, 8],
  }
}

function checkLoss(definition: LossDefinition, settings: object, check: Check): void {
  const of = (inputs: TokenInputs): LossValue => definition.compute(inputs, settings)
  const finite = ({ value, gradient, clipFraction }: LossValue): boolean =>
    [value, clipFraction, ...gradient].every(Number.isFinite)
  const inputs = tokens(1)
  check(
    'the gradient has one entry for each token',
    () => of(inputs).gradient.length === inputs.logprobs.length,
  )
  check('the same tokens give the same again', () => equal(of(inputs), of(inputs)))
  for (const spread of [0, 0.5, 60])
    check('value and gradient are finite', () => finite(of(tokens(2, spread))))
  check('tokens without weight do not count', () => {
    const others = Array.from(inputs.logprobs, (value, t) => (inputs.weights[t] === 0 ? value - 3 : value))
    const plain = of(inputs)
    return equal(of({ ...inputs, logprobs: others }), plain) && zeroWhere(plain.gradient, inputs.weights)
  })
  check('weights of zero give zeros', () => {
    const { value, gradient } = of({ ...inputs, weights: new Float32Array(inputs.weights.length) })
    return value === 0 && gradient.every((derivative) => derivative === 0)
  })
  check('no tokens give no loss', () => {
    const none = new Float32Array(0)
    const rows = { logprobs: none, samplerLogprobs: none, advantages: none, weights: none }
    const { value, gradient } = of({ ...rows, referenceLogprobs: none, starts: [] })
    return value === 0 && gradient.length === 0
  })
  check('the parts of a batch add up, so that micro-batches and replicas do', () => {
    const [first, second] = [sequences(inputs, 0, 2), sequences(inputs, 2, 3)].map(of)
    const whole = of(inputs)
    return (
      near([first.value + second.value], [whole.value]) &&
      near([...first.gradient, ...second.gradient], whole.gradient)
    )
  })
  if (definition.movesWithoutAdvantage !== true)
    check('tokens without advantage have no gradient', () =>
      of({ ...inputs, advantages: new Float32Array(inputs.advantages.length) }).gradient.every(
        (derivative) => derivative === 0,
      ),
    )
  const onPolicy = { ...inputs, samplerLogprobs: inputs.logprobs }
  if (definition.stopsGradient?.(settings) === true)
    check('where policy and sampler agree, the gradient is -weight * advantage', () =>
      near(
        of(onPolicy).gradient,
        Array.from(inputs.weights, (weight, t) => -weight * inputs.advantages[t]),
      ),
    )
  else
    for (const rows of [inputs, tokens(5, 0.05), tokens(6, 2)])
      check('the gradient is that of finite differences', () =>
        gradientAgrees(
          Array.from(rows.logprobs),
          of(rows).gradient,
          (logprobs) => of({ ...rows, logprobs }).value,
        ),
      )
  check('settings that are left out have the defaults of the fields', () =>
    equal(definition.compute(inputs, { ...defaultSettings(definition.settings), ...settings }), of(inputs)),
  )
}

/** The sequences [from, to) of the tokens. */
function sequences(inputs: TokenInputs, from: number, to: number): TokenInputs {
  const starts = Array.from(inputs.starts)
  const [start, end] = [starts[from], starts[to] ?? inputs.logprobs.length]
  const part = (row: ArrayLike<number>): number[] => Array.from(row).slice(start, end)
  return {
    logprobs: part(inputs.logprobs),
    samplerLogprobs: part(inputs.samplerLogprobs),
    advantages: part(inputs.advantages),
    weights: part(inputs.weights),
    referenceLogprobs: Float32Array.from(part(inputs.referenceLogprobs)),
    starts: starts.slice(from, to).map((at) => at - start),
  }
}

// ---- Preference losses

function pairsOf(count: number, scale = 1): PreferencePairs & { chosen: number[]; rejected: number[] } {
  const random = createRandom(7)
  const row = () => Array.from({ length: count }, () => -scale * (0.1 + 3 * random.next()))
  return { chosen: row(), rejected: row(), referenceChosen: row(), referenceRejected: row() }
}

function checkPreference(definition: PreferenceDefinition, settings: object, check: Check): void {
  const of = (pairs: PreferencePairs) => definition.compute(pairs, settings)
  const pairs = pairsOf(5)
  check('gradients have one entry for each pair', () => {
    const { chosen, rejected } = of(pairs)
    return chosen.length === 5 && rejected.length === 5
  })
  for (const scale of [1, 1e3])
    check('value and gradients are finite', () => {
      const { value, chosen, rejected, accuracy } = of(pairsOf(5, scale))
      return [value, accuracy, ...chosen, ...rejected].every(Number.isFinite)
    })
  check('no pairs give no loss', () => {
    const { value, chosen, accuracy } = of(pairsOf(0))
    return value === 0 && chosen.length === 0 && accuracy === 0
  })
  check('pairs without weight do not count', () => {
    const { value, chosen, rejected } = of({ ...pairs, weights: [0, 0, 0, 0, 0] })
    return value === 0 && [...chosen, ...rejected].every((derivative) => derivative === 0)
  })
  check('a log-probability of 0 stays finite', () => {
    const { value, chosen, rejected } = of({ ...pairs, chosen: [0, 0, 0, 0, 0], rejected: [0, 0, 0, 0, 0] })
    return [value, ...chosen, ...rejected].every(Number.isFinite)
  })
  if (!definition.usesReference)
    check('the reference is not read', () => {
      const none = { referenceChosen: [], referenceRejected: [] }
      return equal(of({ ...pairs, ...none }), of(pairs))
    })
  for (const side of ['chosen', 'rejected'] as const)
    check('gradients are those of finite differences', () =>
      gradientAgrees(pairs[side], of(pairs)[side], (values) => of({ ...pairs, [side]: values }).value),
    )
  check('settings that are left out have the defaults of the fields', () =>
    equal(definition.compute(pairs, { ...defaultSettings(definition.settings), ...settings }), of(pairs)),
  )
}

// ---- Numbers

function near(found: ArrayLike<number>, expected: ArrayLike<number>): boolean {
  return (
    found.length === expected.length &&
    Array.from(found).every((value, i) => Math.abs(value - expected[i]) <= 1e-5 * (1 + Math.abs(expected[i])))
  )
}

const zeroWhere = (values: Float32Array, weights: ArrayLike<number>): boolean =>
  values.every((value, t) => weights[t] !== 0 || value === 0)

/** Central differences. At a kink of the value, where the two sides differ, any gradient between them is accepted. */
function gradientAgrees(
  at: readonly number[],
  gradient: Float32Array,
  value: (at: number[]) => number,
): boolean {
  const step = 1e-5
  const middle = value([...at])
  return at.every((number, t) => {
    const right = (value(at.with(t, number + step)) - middle) / step
    const left = (middle - value(at.with(t, number - step))) / step
    const slack = 1e-3 * (1 + Math.abs(left + right))
    return gradient[t] >= Math.min(left, right) - slack && gradient[t] <= Math.max(left, right) + slack
  })
}

/** Whether two values are equal as data; +0 and -0 are equal. */
function equal(a: unknown, b: unknown): boolean {
  const plain = (value: unknown): string =>
    JSON.stringify(value, (_, each: unknown) =>
      ArrayBuffer.isView(each) ? Array.from(each as Float32Array) : each,
    )
  return plain(a) === plain(b)
}
