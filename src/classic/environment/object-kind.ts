import { AgogeError } from '../../error.ts'
import type { ContextSpace } from './context.ts'
import { describeSpace } from './space-describe.ts'
import { flatSpace } from './space-flatten.ts'
import type { ArraySpace, Space } from './space.ts'
import type { EnvironmentDefinition } from './definition.ts'

/** What all objects of a vector have in common. */
export interface ObjectKind {
  readonly name?: string
  readonly observationSpace: Space
  readonly actionSpace: Space
  readonly contextSpace?: ContextSpace
  actionMask?(): ArrayLike<number>
}

/** Whether members are rows of numbers of one length. */
export const isArraySpace = (space: Space): space is ArraySpace =>
  space.type === 'box' ||
  space.type === 'discrete' ||
  space.type === 'multi-discrete' ||
  space.type === 'multi-binary'

/** The spaces and the name of an object, for whoever reads `environment`. */
export function objectDefinition(kind: ObjectKind): EnvironmentDefinition {
  for (const field of ['observationSpace', 'actionSpace'] as const) {
    if (typeof kind?.[field]?.type === 'string') continue
    throw new AgogeError(`an environment needs ${field}`, {
      code: 'not-an-environment',
      given: kind?.[field],
      expected: 'an object with observationSpace, actionSpace, reset and step',
    })
  }
  const name = kind.name ?? 'environment'
  if (!isArraySpace(kind.actionSpace)) {
    throw new AgogeError(`actions of ${name} do not fit in a row of numbers`, {
      code: 'not-an-environment',
      given: describeSpace(kind.actionSpace),
      expected: 'a box, discrete, multi-discrete or multi-binary action space',
      hint: 'choices that are made together are a multi-discrete space',
    })
  }
  const refuse = (): never => {
    throw new AgogeError(`${name} is an object of its own, not an environment over slots`, {
      code: 'not-an-environment',
      hint: 'use the vector environment that was made of it',
    })
  }
  return {
    name,
    observation: isArraySpace(kind.observationSpace)
      ? kind.observationSpace
      : flatSpace(kind.observationSpace),
    action: kind.actionSpace,
    context: kind.contextSpace ?? {},
    stateSize: 0,
    reset: refuse,
    step: refuse,
    observe: refuse,
  }
}

/** A result of an object as a record that has the fields; `what` names it in errors. */
export function fieldsOf(value: unknown, what: string, fields: readonly string[]): Record<string, unknown> {
  if (value instanceof Promise || (typeof value === 'object' && value !== null && 'then' in value)) {
    throw new AgogeError(`${what} is a promise`, {
      code: 'not-an-environment',
      given: value,
      expected: `an object with ${fields.join(', ')}`,
      hint: 'use asyncVectorFrom for environments whose calls are asynchronous',
    })
  }
  const missing = fields.find((field) => typeof value !== 'object' || value === null || !(field in value))
  if (missing !== undefined) {
    throw new AgogeError(`${what} has no ${missing}`, {
      code: 'bad-step',
      given: value,
      expected: `an object with ${fields.join(', ')}`,
    })
  }
  return value as Record<string, unknown>
}

export const notInSpace = (why: string, given: unknown, space: Space): AgogeError =>
  new AgogeError(why, { code: 'not-in-space', given, expected: describeSpace(space) })
