import { AgogeError } from '../../../error.ts'
import type { EnvironmentDefinition } from '../definition.ts'
import type { ArraySpace } from '../space.ts'

/** A fault of an environment. */
export interface Finding {
  /** The check that found it: `space`, `determinism`, `neighbours`, `context` ... */
  check: string
  /** The array, feature or entry of a result. */
  field: string
  envIndex?: number
  step?: number
  /** The complete sentence, with the name of the environment. */
  message: string
}

/** Collects findings, one for each check and field. */
export interface Findings {
  readonly list: Finding[]
  add(check: string, field: string, what: string, where?: { envIndex?: number; step?: number }): void
}

export function createFindings(name: string): Findings {
  const list: Finding[] = []
  return {
    list,
    add(check, field, what, where = {}) {
      if (list.some((finding) => finding.check === check && finding.field === field)) return
      const place = [
        name,
        ...(where.envIndex === undefined ? [] : [`environment ${where.envIndex}`]),
        ...(where.step === undefined ? [] : [`step ${where.step}`]),
      ].join(', ')
      list.push({ check, field, ...where, message: `${place}: ${field} ${what}` })
    },
  }
}

/** @throws AgogeError `bad-environment` that lists the findings, if there are any */
export function throwFindings(name: string, findings: readonly Finding[]): void {
  if (findings.length === 0) return
  const lines = findings.map(({ check, message }) => `- [${check}] ${message}`)
  throw new AgogeError(
    `${name} fails ${findings.length === 1 ? 'a check' : `${findings.length} checks`}:\n${lines.join('\n')}`,
    { code: 'bad-environment', given: findings, expected: 'an environment that keeps the contract' },
  )
}

/** Checks that need no play: spaces, sizes, ranges of context features. */
export function checkDefinition(definition: EnvironmentDefinition, findings: Findings): void {
  const add = (field: string, what: string): void => findings.add('definition', field, what)
  if (typeof definition.name !== 'string' || definition.name === '') add('name', 'is empty')
  if (!Number.isSafeInteger(definition.stateSize) || definition.stateSize < 0)
    add('stateSize', `is ${definition.stateSize}, expected a count of numbers`)
  const { maxSteps } = definition
  if (maxSteps !== undefined && !(maxSteps >= 1)) add('maxSteps', `is ${maxSteps}, expected at least 1`)
  for (const field of ['reset', 'step', 'observe'] as const)
    if (typeof definition[field] !== 'function') add(field, 'is not a function')
  for (const field of ['observation', 'action'] as const) {
    const why = explainSpace(definition[field])
    if (why !== undefined) add(field, why)
  }
  if (definition.mask !== undefined && definition.action.type === 'box')
    add('mask', 'needs an action space of choices, not a box')
  if (typeof definition.context !== 'object' || definition.context === null)
    return add(
      'context',
      `is ${String(definition.context)}, expected features by name; {} where there are none`,
    )
  for (const [
    name,
    { default: usual, low, high, extrapolate = [low, high], integer, about },
  ] of Object.entries(definition.context)) {
    const field = `context feature ${name}`
    if (![usual, low, high, ...extrapolate].every(Number.isFinite))
      add(field, 'has a bound that is not finite')
    else if (!(low <= usual && usual <= high))
      add(field, `has its default ${usual} outside ${low} to ${high}`)
    else if (!(extrapolate[0] <= low && high <= extrapolate[1]))
      add(field, `has its wider range ${extrapolate.join(' to ')} inside of ${low} to ${high}`)
    if (integer === true && ![usual, low, high, ...extrapolate].every(Number.isInteger))
      add(field, 'is an integer with a bound that is none')
    if (about === '') add(field, 'does not say what it is')
  }
}

function explainSpace(space: ArraySpace): string | undefined {
  switch (space?.type) {
    case 'box': {
      const size = space.shape.reduce((product, length) => product * length, 1)
      if (space.low.length !== size || space.high.length !== size)
        return `has ${space.low.length} lower and ${space.high.length} upper bounds for ${size} entries`
      const k = space.low.findIndex((low, at) => !(low <= space.high[at]))
      return k < 0 ? undefined : `has bounds ${space.low[k]} to ${space.high[k]} at entry ${k}`
    }
    case 'discrete':
    case 'multi-binary':
      return Number.isSafeInteger(space.n) && space.n >= 1
        ? undefined
        : `has n = ${space.n}, expected at least 1`
    case 'multi-discrete':
      return space.counts.every((n) => Number.isSafeInteger(n) && n >= 1)
        ? undefined
        : `has counts ${space.counts.join(', ')}, expected at least 1 each`
    default:
      return 'is not a space of rows of numbers'
  }
}
