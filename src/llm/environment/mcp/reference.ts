import type { Expert } from '../../agent/types.ts'
import { createRandom } from '../../../engine/random/index.ts'
import type { Random } from '../../../engine/random/index.ts'
import type { Draft } from './mcp-task.ts'
import type { RequestStep } from './request/step-words.ts'
import { chooseSalient, extractSalient, isPlainObject, type Salient } from './salient.ts'
import { newState } from './server/state-pool.ts'
import type { EpisodeState, StateCallOptions } from './server/state-pool.ts'
import type { ToolSystem } from './tool-system.ts'
import { saysFailure } from './arguments/error-hints.ts'
import { typeOf } from './arguments/schema-parts.ts'
import type { JsonSchema } from '../../../untrusted/schema-check.ts'

/** Outcome of running a draft's reference calls in a fresh state. */
export type ReferenceRun =
  | { ok: false; reason: string }
  | {
      ok: true
      results: string[]
      /** For each step but the last, the result that the next step takes as its argument. */
      links: (Salient | undefined)[]
      before: string | null
      after: string | null
      state: EpisodeState
    }

/** The reason, if a tool that may change the state did not change it. */
export const changedNothing = 'the reference call changed nothing that is observed'

/** Runs the reference calls of a draft in a state of its own. */
export async function runReference(
  system: ToolSystem,
  draft: Draft,
  options: StateCallOptions = {},
): Promise<ReferenceRun> {
  const { signal } = options
  const state = newState(draft.seeds)
  const changes = draft.kind.tools.some((tool) => tool.kind === 'write')
  const before = await system.observe(state, signal)
  const results: string[] = []
  const links: (Salient | undefined)[] = []
  for (const [index, step] of draft.steps.entries()) {
    let args: Record<string, unknown> | undefined = step.arguments
    if (step.linked !== undefined) {
      const last = results[index - 1]
      const link = chooseSalient(last, '', linkRandom(last), system.ignore)
      // A sentence is for a reader, not a value for another tool.
      const value = link === undefined || link.kind === 'sentence' ? undefined : extractSalient(last, link)
      args =
        value === undefined
          ? undefined
          : linkedArguments(step, value, draft.kind.tools[index].spec.inputSchema)
      if (args === undefined) return { ok: false, reason: 'the result of one tool does not fit the other' }
      links[index - 1] = link
    }
    const result = await system.call(state, step.tool, args, options)
    // Some servers report a failure as a plain result.
    if (result.isError || saysFailure(result.text, args))
      return { ok: false, reason: `the reference call failed: ${result.text}` }
    results.push(result.text)
  }
  const after = changes ? await system.observe(state, signal) : before
  if (changes && after === before) return { ok: false, reason: changedNothing }
  return { ok: true, results, links, before, after, state }
}

/** The choice depends on the text alone, because no name is asked for between two steps. */
function linkRandom(text: string): Random {
  return createRandom('link', text)
}

/** Inserts the previous step's result into the arguments of a step; undefined if its type does not match. */
export function linkedArguments(
  step: RequestStep,
  value: string,
  schema: JsonSchema,
): Record<string, unknown> | undefined {
  if (step.linked === undefined) return step.arguments
  const properties = schema['properties']
  const property = isPlainObject(properties) ? properties[step.linked] : undefined
  const type = isPlainObject(property) ? typeOf(property) : undefined
  if (type === 'string') return { ...step.arguments, [step.linked]: value }
  const number = Number(value)
  if ((type !== 'number' && type !== 'integer') || value.trim() === '' || !Number.isFinite(number))
    return undefined
  return { ...step.arguments, [step.linked]: number }
}

/** The expert of a checked draft: its calls in order, later arguments taken from results, then the answer. */
export function referenceExpert(
  draft: Draft,
  links: readonly (Salient | undefined)[],
  salient: Salient | undefined,
): Expert {
  return (results) => {
    const index = results.length
    const last = results.at(-1)?.text ?? ''
    const step = draft.steps[index]
    if (step === undefined)
      return { answer: salient === undefined ? 'done' : (extractSalient(last, salient) ?? '') }
    const link = links[index - 1]
    const value = link === undefined ? undefined : extractSalient(last, link)
    const args =
      value === undefined
        ? step.arguments
        : (linkedArguments(step, value, draft.kind.tools[index].spec.inputSchema) ?? step.arguments)
    return { call: { name: step.tool, arguments: args } }
  }
}
