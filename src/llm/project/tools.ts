import { sha256 } from '../../runs/checksums.ts'
import { lastOf, type ToolLike } from '../tool/define-tools.ts'
import { InfrastructureError } from '../tool/tool.ts'
import type { Journal, ToolOutcome } from './journal.ts'

/** A tool of the agent, and how it acts in trials. */
export type ToolRule<Tool extends ToolLike = ToolLike> =
  | {
      tool: Tool
      /** Acts for real in every trial. */
      mode: 'run'
      /**
       * True if a call may be made a second time. Otherwise a call that a killed process had begun is not repeated, and its trial is masked.
       * Default: false.
       */
      safe?: boolean
    }
  | {
      tool: Tool
      /** Acts for real once for the same arguments; all trials get that result. */
      mode: 'replay'
      safe?: boolean
    }
  | {
      tool: Tool
      /** Never acts. */
      mode: 'stub'
      /** What the agent gets instead: a value, or a function of the arguments. */
      result: unknown
    }

/** A trial, as its tools see it. */
export interface ToolTrial {
  id: string
  journal: Journal
  /** Called if a call can neither be made nor answered, with the reason. The trial is then masked. */
  onFault: (reason: string) => void
}

/** The id under which the results of `replay` are kept, for all trials. */
const allTrials = 'all'

/**
 * Tools of an evaluation. Each result is kept, so that a continued evaluation makes no call twice.
 *
 * @returns a function that gives the tools of a trial. They are those of the config with another `execute`.
 */
export function createTools(
  rules: Readonly<Record<string, ToolRule>>,
): (trial: ToolTrial) => Record<string, ToolLike> {
  /** Results of `replay` of this process, also those still under way. */
  const replayed = new Map<string, Promise<ToolOutcome>>()
  return (trial) =>
    Object.fromEntries(
      Object.entries(rules).map(([name, rule]) => [name, wrapped(name, rule, trial, replayed)]),
    )
}

function wrapped(
  name: string,
  rule: ToolRule,
  trial: ToolTrial,
  replayed: Map<string, Promise<ToolOutcome>>,
): ToolLike {
  const { tool } = rule
  if (rule.mode === 'stub') {
    const { result } = rule
    const answer = (input: never): unknown =>
      typeof result === 'function' ? (result as (given: never) => unknown)(input) : result
    return { ...tool, execute: async (input: never) => answer(input) }
  }
  const isShared = rule.mode === 'replay'
  const counts = new Map<string, number>()
  const owner = isShared ? allTrials : trial.id
  return {
    ...tool,
    async execute(input: never, options) {
      const hash = sha256(JSON.stringify([name, input])).slice(0, 24)
      const count = counts.get(hash) ?? 0
      counts.set(hash, count + 1)
      const key = isShared ? `tool ${hash}` : `tool ${hash} ${count}`
      const outcome =
        (isShared ? replayed.get(key) : undefined) ??
        callOnce({ rule, journal: trial.journal, owner, key, name }, input, options)
      if (isShared) replayed.set(key, outcome)
      try {
        return valueOf(await outcome)
      } catch (error) {
        // Of every trial that waited for it. The next one tries again.
        if (error instanceof InfrastructureError) {
          replayed.delete(key)
          trial.onFault(error.message)
        }
        throw error
      }
    },
  }
}

interface PlacedCall {
  rule: Extract<ToolRule, { mode: 'run' | 'replay' }>
  journal: Journal
  owner: string
  key: string
  name: string
}

async function callOnce(
  { rule, journal, owner, key, name }: PlacedCall,
  input: never,
  options: Parameters<NonNullable<ToolLike['execute']>>[1],
): Promise<ToolOutcome> {
  const earlier = journal.tool(owner, key)
  if (earlier !== undefined && earlier !== 'started') return earlier
  if (earlier === 'started' && rule.safe !== true)
    throw new InfrastructureError(
      `the tool "${name}" had begun when the evaluation was stopped, and it is not marked safe to call again`,
    )
  journal.write({ type: 'tool-start', trial: owner, key })
  const outcome = await outcomeOf(async () => rule.tool.execute?.(input, options))
  if ('fault' in outcome)
    throw new InfrastructureError(`the tool "${name}" failed: ${outcome.fault.message}`, {
      cause: outcome.fault,
    })
  journal.write({ type: 'tool', trial: owner, key, ...outcome })
  return outcome
}

/** An error of a tool is what the agent sees; a fault of what lies behind it is nobody's result. */
async function outcomeOf(
  work: () => Promise<unknown>,
): Promise<ToolOutcome | { fault: InfrastructureError }> {
  try {
    return { result: (await lastOf(await work())) ?? null }
  } catch (error) {
    if (error instanceof InfrastructureError) return { fault: error }
    return { error: error instanceof Error ? error.message : String(error) }
  }
}

function valueOf(outcome: ToolOutcome): unknown {
  if ('error' in outcome) throw new Error(outcome.error)
  return outcome.result
}

/** The rule of each tool as one line, for the plan that is shown before the first trial. */
export function describeTools(rules: Readonly<Record<string, ToolRule>>): string[] {
  return Object.entries(rules).map(([name, rule]) => {
    const about = {
      run: 'acts in every trial',
      replay: 'acts once for the same arguments; the result is replayed',
      stub: 'never acts; its result is stubbed',
    }[rule.mode]
    const again = rule.mode !== 'stub' && rule.safe === true ? ', may be called again' : ''
    return `${name}: ${about}${again}`
  })
}
