import { AgogeError } from '../../error.ts'
import type { ContextSpace } from './context.ts'
import { box, describeSpace, rowSize } from './space.ts'
import { flatSpace } from './space-values.ts'
import type { EnvArrays, EnvironmentDefinition } from './definition.ts'

/**
 * Appends context features to the observation, scaled so that `low` is -1 and `high` is 1. Values outside the
 * range of training lie outside [-1, 1]. The observation becomes a flat box: a box stays as it is, discrete and
 * multi-discrete spaces become one-hot, bits become zeros and ones. Without this wrapper the context is hidden.
 *
 * @throws AgogeError `unknown-feature`
 */
export function visibleContext<C extends ContextSpace>(
  definition: EnvironmentDefinition<C>,
  names: readonly (keyof C & string)[] = Object.keys(definition.context),
): EnvironmentDefinition<C> {
  for (const name of names) {
    if (Object.hasOwn(definition.context, name)) continue
    throw new AgogeError(`${definition.name} has no context feature ${name}`, {
      code: 'unknown-feature',
      given: name,
      expected: `one of ${Object.keys(definition.context).join(', ') || 'none: the environment has no features'}`,
    })
  }
  const features = names.map((name) => definition.context[name])
  const lows = features.map(({ low }) => low)
  const halves = features.map(({ low, high }) => (high - low) / 2)
  const innerWidth = rowSize(definition.observation)
  const flat = flatSpace(definition.observation)
  const flatWidth = flat.low.length
  const width = flatWidth + names.length
  const bounds = (inner: Float64Array, limit: number): number[] => [...inner, ...names.map(() => limit)]

  /** The same arrays with space for the inner observation. Made once for each vector. */
  const innerEnvs = new WeakMap<EnvArrays, EnvArrays>()
  function innerOf(envs: EnvArrays): EnvArrays {
    let inner = innerEnvs.get(envs)
    if (inner === undefined) {
      inner = { ...envs, observations: new Float32Array(envs.count * innerWidth) }
      innerEnvs.set(envs, inner)
    }
    return inner
  }

  return {
    ...definition,
    observation: box([width], bounds(flat.low, -Infinity), bounds(flat.high, Infinity)),
    observe(envs, i) {
      const inner = innerOf(envs)
      definition.observe(inner, i)
      const row = i * width
      flatten(definition, inner.observations, i * innerWidth, envs.observations, row)
      for (let k = 0; k < names.length; k++) {
        const value = envs.context[names[k]][i]
        envs.observations[row + flatWidth + k] = halves[k] === 0 ? 0 : (value - lows[k]) / halves[k] - 1
      }
    },
  }
}

/** Writes the one-hot form of a row without allocating. */
function flatten(
  definition: Pick<EnvironmentDefinition, 'name' | 'observation'>,
  from: Float32Array,
  start: number,
  to: Float32Array,
  row: number,
): void {
  const space = definition.observation
  switch (space.type) {
    case 'box':
    case 'multi-binary': {
      const size = rowSize(space)
      for (let k = 0; k < size; k++) to[row + k] = from[start + k]
      return
    }
    case 'discrete':
      to.fill(0, row, row + space.n)
      to[row + place(definition, from[start] - space.start, space.n)] = 1
      return
    case 'multi-discrete': {
      let offset = row
      for (let k = 0; k < space.counts.length; k++) {
        to.fill(0, offset, offset + space.counts[k])
        to[offset + place(definition, from[start + k], space.counts[k])] = 1
        offset += space.counts[k]
      }
    }
  }
}

/** Checks a choice of `n`. An invalid one would write into the neighbouring feature. */
function place(
  { name, observation }: Pick<EnvironmentDefinition, 'name' | 'observation'>,
  choice: number,
  n: number,
): number {
  if (choice >= 0 && choice < n && choice === Math.floor(choice)) return choice
  throw new AgogeError(`${name} showed choice ${choice} of ${n}, counted from 0`, {
    code: 'not-in-space',
    given: choice,
    expected: `a member of ${describeSpace(observation)}`,
    hint: "Look at the environment's observe(), and at its observation space",
  })
}
