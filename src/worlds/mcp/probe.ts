import { setTimeout as wait } from 'node:timers/promises'
import { AgogeError } from '../../error.ts'
import { createRandom } from '../../random/index.ts'
import { isPlainObject, parseJson } from './json-walk.ts'
import type { PlainObject } from './json-walk.ts'
import { draftTask, recordsIn } from './draft.ts'
import type { Draft, FamilyPlan } from './draft.ts'
import { runReference } from './reference.ts'
import type { ReferenceRun } from './reference.ts'
import { chooseSalient, whyNothingSalient } from './salient.ts'
import type { AdmittedTool } from './safety.ts'
import { resolveSchema, typeOf, UnusableSchema } from './sample-arguments.ts'
import { SlowCall, StateNotMade } from './state-pool.ts'
import type { ToolSystem } from './tool-system.ts'

export interface Probe {
  families: FamilyPlan[]
  creators: AdmittedTool[]
  harvest: PlainObject[]
  /** Tools of which no task is made, with the reason in words. */
  leftOut: { name: string; reason: string }[]
}

export interface ProbeOptions {
  seed: number
  /** A tool that takes longer is left out. Default 3. */
  deadlineSeconds?: number | undefined
  /** How many families of two steps at most. Default 4. */
  chains?: number | undefined
  signal?: AbortSignal | undefined
}

type Success = ReferenceRun & { ok: true }

const attempts = 12

/**
 * Tries every admitted tool with made-up arguments and finds out which can carry a task: its schema can be met, a
 * call succeeds in time, it reports something or changes what is observed, and it does the same when done again. Tools that cannot are
 * left out of what `system` offers.
 */
export async function probeTools(system: ToolSystem, options: ProbeOptions): Promise<Probe> {
  const probe: Probe = { families: [], creators: [], harvest: [], leftOut: [] }
  const found: { family: FamilyPlan; draft: Draft; run: Success }[] = []
  const began = performance.now()
  const limits = { signal: options.signal, seconds: options.deadlineSeconds ?? 3 }

  /** A busy machine may stall once; a tool that is slow is so twice. */
  async function patiently(draft: Draft): Promise<ReferenceRun> {
    try {
      return await runReference(system, draft, limits)
    } catch (error) {
      if (!(error instanceof SlowCall)) throw error
      return runReference(system, draft, limits)
    }
  }

  /** The same once more. A tool that fails now and then is not one that answers otherwise: it has a few tries. */
  async function repeat(draft: Draft): Promise<ReferenceRun> {
    let again: ReferenceRun = { ok: false, reason: 'it was not tried' }
    for (let tries = 0; tries < 3 && !again.ok; tries++)
      try {
        again = await patiently(draft)
      } catch (error) {
        if (options.signal?.aborted === true || AgogeError.isInstance(error)) throw error
        again = { ok: false, reason: (error as Error).message }
        if (!(error instanceof StateNotMade)) return again
      }
    return again
  }

  async function attempt(family: FamilyPlan, tries = attempts): Promise<string | undefined> {
    let reason = 'no arguments were found for which it does anything'
    for (let index = 0; index < tries; index++) {
      try {
        const draft = draftTask(
          family,
          'train',
          probe,
          createRandom(options.seed, 'probe', family.name, index),
        )
        const run = await patiently(draft)
        if (!run.ok) {
          reason = run.reason
          continue
        }
        const last = family.tools[family.tools.length - 1]
        const result = run.results[run.results.length - 1]
        if (last.kind === 'read' && chooseSalient(result, '', createRandom(0)) === undefined) {
          reason = whyNothingSalient(result, system.resultLimit)
          continue
        }
        found.push({ family, draft, run })
        return undefined
      } catch (error) {
        if (options.signal?.aborted === true || AgogeError.isInstance(error)) throw error
        if (error instanceof StateNotMade) {
          reason = error.message
          continue
        }
        if (error instanceof UnusableSchema) return `its schema cannot be used: ${error.message}`
        return error instanceof SlowCall ? error.message : `the server failed: ${(error as Error).message}`
      }
    }
    return reason
  }

  const single = (tool: AdmittedTool): FamilyPlan => ({ name: tool.spec.name, tools: [tool] })
  const pending = new Map(system.tools.map((tool) => [tool, '']))
  const go = async (tools: readonly AdmittedTool[]): Promise<void> => {
    for (const tool of tools) {
      const reason = await attempt(single(tool))
      if (reason === undefined) pending.delete(tool)
      else pending.set(tool, reason)
    }
  }
  // Writing tools first, in an untouched state: those that work there can set scenes for the others.
  const writers = system.tools.filter((tool) => tool.kind === 'write')
  await go(writers)
  probe.creators = found.map((entry) => entry.family.tools[0])
  const readers = system.tools.filter((tool) => tool.kind === 'read')
  await go(readers.filter((tool) => requiredOf(tool).length === 0))
  if (!system.changeable) {
    probe.harvest = found.flatMap((entry) => entry.run.results.flatMap((text) => recordsIn(parseJson(text))))
  }
  // Those that failed for want of something to act on get another chance.
  await go(
    [...pending.keys()].filter(
      (tool) => pending.get(tool) === '' || probe.creators.length + probe.harvest.length > 0,
    ),
  )
  for (const [tool, reason] of pending) probe.leftOut.push({ name: tool.spec.name, reason })

  for (const chain of chainsOf(
    found.map((entry) => entry.family.tools[0]),
    options.chains ?? 4,
    probe.creators,
  )) {
    await attempt(chain, 4)
  }

  // Clocks tick once a second: repeating sooner would not show them.
  await wait(
    Math.max(0, 1200 - (performance.now() - began)),
    undefined,
    options.signal === undefined ? {} : { signal: options.signal },
  )
  const stable = new Set<AdmittedTool>()
  for (const { family, draft, run } of found) {
    if (family.tools.length > 1 && !family.tools.every((tool) => stable.has(tool))) continue
    const again = await repeat(draft)
    const equal =
      again.ok &&
      again.after === run.after &&
      again.results.every((text, index) => text === run.results[index])
    if (equal && !run.results.some((text) => tellsTime(text, JSON.stringify(draft.steps)))) {
      if (family.tools.length === 1) stable.add(family.tools[0])
      probe.families.push(family)
    } else if (family.tools.length === 1) {
      const reason = again.ok
        ? 'the same call gives another result when repeated'
        : `the same call fails when repeated: ${again.reason}`
      probe.leftOut.push({ name: family.name, reason })
    }
  }
  probe.creators = probe.creators.filter((tool) => stable.has(tool))
  system.leaveOut(probe.leftOut.map((tool) => tool.name))
  return probe
}

function requiredOf(tool: AdmittedTool): readonly unknown[] {
  const required = tool.spec.inputSchema['required']
  return Array.isArray(required) ? required : []
}

/** Pairs worth asking for: write and read back, then read and use the result in another tool. */
function chainsOf(
  tools: readonly AdmittedTool[],
  most: number,
  creators: readonly AdmittedTool[],
): FamilyPlan[] {
  const readers = tools.filter((tool) => tool.kind === 'read' && requiredOf(tool).length > 0)
  const backs = creators.flatMap((writer) =>
    readers.map((reader) => ({ name: `${writer.spec.name}+${reader.spec.name}`, tools: [writer, reader] })),
  )
  const uses = readers.flatMap((first) =>
    readers
      .filter((second) => second !== first)
      .flatMap((second): FamilyPlan[] => {
        const linked = linkable(second)
        return linked === undefined
          ? []
          : [{ name: `${first.spec.name}>${second.spec.name}`, tools: [first, second], linked }]
      }),
  )
  return [...backs, ...uses].slice(0, most)
}

/** The first required free text or number of a tool. */
function linkable(tool: AdmittedTool): string | undefined {
  const properties = tool.spec.inputSchema['properties']
  if (!isPlainObject(properties)) return undefined
  return requiredOf(tool).find((name): name is string => {
    const property = typeof name === 'string' ? properties[name] : undefined
    if (!isPlainObject(property)) return false
    const schema = resolveSchema(property, tool.spec.inputSchema)
    const free =
      !('enum' in schema) && !('const' in schema) && !('pattern' in schema) && !('format' in schema)
    return free && ['string', 'number', 'integer'].includes(typeOf(schema) ?? '')
  })
}

/** Does a result name today's date or the present hour and minute, other than by repeating its arguments? */
function tellsTime(text: string, given: string): boolean {
  const now = new Date()
  const stamps = [
    now.toISOString().slice(0, 10),
    now.toISOString().slice(0, 16),
    now.toLocaleDateString('en-US'),
  ]
  for (const minutes of [0, -1]) {
    const then = new Date(now.getTime() + minutes * 60_000)
    const minute = String(then.getMinutes()).padStart(2, '0')
    stamps.push(
      `${String(then.getHours()).padStart(2, '0')}:${minute}`,
      `${then.getHours() % 12 || 12}:${minute}`,
    )
  }
  return stamps.some((stamp) => text.includes(stamp) && !given.includes(stamp))
}
