import { visibleLine } from '../../../../untrusted/visible-text.ts'
import { spoken } from '../arguments/words.ts'
import { filesObserver } from '../environment-config.ts'
import type { AdmittedTool, LeftOutTool } from '../safety.ts'
import type { Observer } from '../tool-system.ts'
import type { Proof } from './proofs.ts'
import { answersOtherwise, plainCall } from './repeatable.ts'
import type { ToolEffect, ToolProfile } from './tool-profile.ts'
import type { Tried } from './tried.ts'

interface Circumstances {
  proof: Proof
  observers: readonly Observer[]
  /** A person allowed the tool by name: what it says about itself and to the model is accepted. */
  allowed: boolean
  /** The configuration names it as an observer: it reads. */
  declared: boolean
  /** Seconds that a call may take. */
  seconds: number
  /** The number of calls after which trying ended early. */
  usedUp: number | undefined
}

interface Conclusion {
  profile: ToolProfile
  /** Undefined: nothing was found out. */
  kind?: AdmittedTool['kind']
  leftOut?: LeftOutTool
}

/** Says what a tool does, and whether tasks can use it. */
export function concludeTool(entry: Tried, circumstances: Circumstances): Conclusion {
  const { tool, repeated, failed, examples } = entry
  const { name } = tool.spec
  const shownBy = shownThrough(entry, circumstances)
  const found = judge(entry, shownBy, circumstances)
  const failureRate = repeated === 0 ? 0 : failed / repeated
  const remark =
    failed > 0 && found.out !== true
      ? `; unstable: it failed in ${failed} of ${repeated} calls that had succeeded before (${percent(failureRate)}): ${entry.error ?? ''}`
      : ''
  const profile: ToolProfile = {
    name,
    effect: found.effect,
    reason: `${found.reason}${remark}`,
    failureRate,
    shownBy,
    examples: examples.map(({ arguments: args, text, seeds }) => ({ arguments: args, text, seeds })),
  }
  const kinds = { writing: 'write', pure: 'read', reading: 'read' } as const
  const kind = kinds[found.effect as keyof typeof kinds]
  return {
    profile,
    // A tool that declares that it writes is believed: what it changed may not be visible.
    ...(kind !== undefined && { kind: tool.kind === 'write' ? 'write' : kind }),
    ...(found.out === true && {
      leftOut: { name, reason: found.reason, ...(found.state === true && { remedy: 'state' as const }) },
    }),
  }
}

interface Judged {
  effect: ToolEffect
  reason: string
  /** No task may use it. */
  out?: boolean
  /** It could be used if the state could be reset and observed. */
  state?: boolean
}

function judge(entry: Tried, shownBy: readonly string[], circumstances: Circumstances): Judged {
  const { tool, changed, succeeded, examples, repeated, failed } = entry
  const { proof, allowed, declared, usedUp, seconds } = circumstances
  const { name } = tool.spec
  const said = [...saidBy(tool.spec), ...examples.map(({ text }) => text)]
    .map(directsModel)
    .find((text) => text !== undefined)
  if (said !== undefined && !allowed)
    return {
      effect: 'unstable',
      reason: `it tells the model what to do ("${said}"); if that is wanted, add --allow ${name}`,
      out: true,
    }
  if (entry.hopeless !== undefined) return { effect: 'unknown', reason: entry.hopeless, out: true }
  if (entry.slow > 1)
    return {
      effect: 'hanging',
      reason: `it takes longer than ${seconds} s, in ${entry.slow} calls`,
      out: true,
    }
  if (entry.died > 1)
    return {
      effect: 'unstable',
      reason: `the server failed in ${entry.died} calls of it: ${entry.error ?? ''}`,
      out: true,
    }
  if (failed * 2 >= repeated && failed > 1 && changed === 0)
    return {
      effect: 'unstable',
      reason: `it failed in ${failed} of ${repeated} calls that had succeeded before: ${entry.error ?? ''}`,
      out: true,
    }
  if (changed > 0 && !declared) {
    const shows = `it changes what ${[...entry.changes.keys()].map(readable).join(', ')} shows`
    const unproved = proof.unproved.get(name)
    if (tool.kind === 'read' && !allowed)
      return {
        effect: 'writing',
        reason: `it is marked as only reading (readOnlyHint), but ${shows}; to use it as a tool that writes, add --allow ${name}`,
        out: true,
      }
    if (!proof.works)
      return { effect: 'writing', reason: `${shows}, and its state is not reset`, out: true, state: true }
    if (unproved !== undefined) return { effect: 'unstable', reason: `${shows}, but ${unproved}`, out: true }
    if (shownBy.length === 0)
      return { effect: 'writing', reason: `${shows}, but not in the same way each time`, out: true }
    return { effect: 'writing', reason: shows }
  }
  if (succeeded === 0) {
    const tried = usedUp === undefined ? '' : `, and the ${usedUp} calls for trying the tools are used up`
    const last = entry.error === undefined ? 'it was not tried' : `no call of it succeeded: ${entry.error}`
    const tooLong = entry.error?.startsWith('the result has ') === true
    return { effect: 'unknown', reason: `${last}${tried}`, ...(tooLong && { out: true }) }
  }
  if (tool.kind === 'write')
    return {
      effect: 'writing',
      reason: `it is marked as changing something; none of its ${succeeded} successful calls changed anything that shows`,
    }
  if (changesRecords(name) && !allowed && !declared)
    return {
      effect: 'unknown',
      reason: `its name says that it changes something, and none of its ${succeeded} successful calls did; if it only reads, add --allow ${name}`,
      out: true,
    }
  if (entry.varied > 0 && !steadyWithArguments(entry))
    return { effect: 'unstable', reason: answersOtherwise, out: true }
  if (proof.dependent.has(name) || (examples[0] !== undefined && examples[0].seeds.length > 0))
    return { effect: 'reading', reason: 'its result depends on the state, and nothing changed' }
  const records = plainCall(tool) !== undefined && /^\s*[[{]/.test(examples[0]?.text ?? '')
  if (records) return { effect: 'reading', reason: 'it shows records, and nothing changed' }
  return {
    effect: 'pure',
    reason: `the same arguments gave the same result in ${repeated - failed} repeated calls, and nothing changed`,
  }
}

/** A tool that varies only when optional arguments are left out, such as the time it reports on. */
function steadyWithArguments({ tool, varied, repeated }: Tried): boolean {
  const optional = Object.keys(Object(tool.spec.inputSchema['properties'])).length > 0
  return plainCall(tool) !== undefined && optional && varied < repeated
}

/** The observers in use through which the changes of a tool show. */
function shownThrough({ changes }: Tried, { observers, proof }: Circumstances): string[] {
  const shown = [...changes.keys()].filter((key) => proof.usable.has(key)).map((key) => key.split(' ')[0])
  return [...new Set(shown)].filter((name) => observers.some((observer) => observer.name === name))
}

/** Verbs of what is done to a record that exists. */
const changesOfRecords = new Set(['delete', 'remove', 'update', 'drop', 'clear', 'edit', 'rename', 'move'])

function changesRecords(name: string): boolean {
  return spoken(name).some((word) => changesOfRecords.has(word.toLowerCase()))
}

function readable(key: string): string {
  const [name, ...args] = key.split(' ')
  return name === filesObserver ? 'a look at its files' : [name, ...args].join(' ')
}

function percent(share: number): string {
  return `${Math.round(100 * share)}%`
}

/** How a text tries to direct a model, in the words that are used for it. */
const directs =
  /\b(?:(?:ignore|disregard|forget|override)\s+(?:all\s+|any\s+|the\s+|your\s+|these\s+|those\s+)*(?:previous\s+|prior\s+|above\s+|earlier\s+|other\s+|system\s+)*(?:instructions?|prompts?|rules|guidelines)|you\s+are\s+now\s+(?:a|an|in)\b|do\s+not\s+(?:tell|inform|mention\s+(?:this\s+)?to)\s+the\s+user|(?:new|updated)\s+system\s+prompt)/i

/** Quotes the sentence by which a text directs the model that reads it; undefined if it does not. */
function directsModel(given: string): string | undefined {
  const text = given.slice(0, 20_000)
  const found = directs.exec(text)
  if (found === null) return undefined
  // The expression has no sentence before its words: it would be read again from each of its characters.
  const before = /[^.!?\n]*$/.exec(text.slice(Math.max(0, found.index - 200), found.index))?.[0] ?? ''
  const [after] = text.slice(found.index + found[0].length).split(/[.!?\n]/, 1)
  return visibleLine(`${before}${found[0]}${after}`.trim(), 200)
}

/** What a tool says to the model: its description, and those of its arguments. */
function saidBy({ description = '', inputSchema }: AdmittedTool['spec']): string[] {
  const found = [description]
  const visit = (value: unknown): void => {
    if (typeof value !== 'object' || value === null) return
    for (const [key, item] of Object.entries(value)) {
      if ((key === 'description' || key === 'title') && typeof item === 'string') found.push(item)
      else visit(item)
    }
  }
  visit(inputSchema)
  return found
}
