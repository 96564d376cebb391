import type { ContextSpace } from '../context.ts'
import type { ResetOptions } from '../environment.ts'
import type { ByAgent, ParallelEnvironment, ParallelReset, TurnEnvironment } from '../multi-agent/index.ts'
import { explainMismatch } from '../space-contains.ts'
import { sampleSpace } from '../space-sample.ts'
import type { Space } from '../space.ts'
import { fastStream } from '../environment-random.ts'
import type { EnvironmentStream } from '../environment-random.ts'
import type { Findings } from './finding.ts'
import { lookAtMask, sampled } from './mask.ts'
import { same } from './same.ts'

/** What a reset or a step gave, copied. */
interface Shown {
  observations: unknown
  acting: unknown
  rewards: unknown
  terminated: unknown
  truncated: unknown
  masks: unknown
}

const fields = ['observations', 'acting', 'rewards', 'terminated', 'truncated', 'masks'] as const

/** Stops the checks after a fault that makes the others meaningless. */
const stop = Symbol('stop')

export interface ManyAgentsOptions {
  seed: number
  steps: number
  patience: number
  endless: boolean
  /** Whether context features have to act in random play. */
  features: boolean
}

/** The checks of an environment of several agents in the parallel form, by random play. */
export function checkManyAgents(
  env: ParallelEnvironment,
  findings: Findings,
  options: ManyAgentsOptions,
): void {
  const { seed, steps } = options
  try {
    checkFields(env, findings)
    const one = play(env, findings, seed, steps)
    play(env, findings, seed + 1, 7)
    compare(one, play(env, findings, seed, steps), (field, step) =>
      findings.add('determinism', field, 'differs from the same play from the same seed', { step }),
    )
    if (!options.endless) checkEnd(env, findings, options)
    if (options.features && env.contextSpace !== undefined)
      checkFeatures(env, env.contextSpace, findings, seed)
  } catch (error) {
    if (error !== stop) throw error
  }
}

/** The turn form as a parallel one in which whoever has the turn acts alone, so that every turn is looked at. */
export function everyTurn(turns: TurnEnvironment, findings: Findings): ParallelEnvironment {
  const look = ({ agent, acting }: ReturnType<TurnEnvironment['step']>): ParallelReset<Space> => {
    if (agent !== (acting[0] ?? null))
      findings.add(
        'turns',
        'acting',
        `is ${acting.join(', ') || 'nobody'}, but the turn is that of ${String(agent)}`,
      )
    return {
      observations: Object.fromEntries(turns.agents.map((name) => [name, turns.observe(name)])) as never,
      acting: agent === null ? [] : [agent],
    }
  }
  return {
    ...turns,
    reset: (given) => look(turns.reset(given)),
    step(actions) {
      const turn = turns.step(Object.values(actions)[0])
      const { rewards, terminated, truncated } = turn
      return { ...look(turn), rewards, terminated, truncated }
    },
  }
}

function checkFields(env: ParallelEnvironment, findings: Findings): void {
  const { agents } = env
  if (!Array.isArray(agents) || agents.length === 0 || new Set(agents).size < agents.length)
    findings.add('definition', 'agents', `are ${String(agents)}, expected different names`)
  for (const field of ['observationSpace', 'actionSpace'] as const)
    if (typeof env[field]?.type !== 'string') findings.add('definition', field, 'is no space')
  for (const field of ['reset', 'step'] as const)
    if (typeof env[field] !== 'function') findings.add('definition', field, 'is no function')
  if (findings.list.length > 0) throw stop
}

/** Random play with resets at ends: all that is shown. */
function play(
  env: ParallelEnvironment,
  findings: Findings,
  seed: number,
  steps: number,
  options: ResetOptions = {},
): Shown[] {
  const random = fastStream('check', 'many-agents', seed)
  let now = begin(env, findings, { ...options, seed })
  const shown = [now.shown]
  for (let t = 1; t <= steps; t++) {
    now = step(env, findings, now, random, t)
    shown.push(now.shown)
    if (now.acting.length > 0) continue
    now = begin(env, findings, options)
    shown.push(now.shown)
  }
  return shown
}

interface Now {
  acting: readonly string[]
  /** As it was given. */
  observations: unknown
  shown: Shown
}

function call<T>(findings: Findings, field: string, step: number, act: () => T): T {
  try {
    return act()
  } catch (error) {
    findings.add('throws', field, `throws: ${String(error)}`, { step })
    throw stop
  }
}

function begin(env: ParallelEnvironment, findings: Findings, options: ResetOptions): Now {
  const given = call(findings, 'reset', 0, () => env.reset(options))
  const now = look(env, findings, given, 0)
  if (now.acting.length > 0) return now
  findings.add('acting', 'acting', 'is empty after a reset: nobody could begin', { step: 0 })
  throw stop
}

function step(
  env: ParallelEnvironment,
  findings: Findings,
  before: Now,
  random: EnvironmentStream,
  t: number,
): Now {
  const actions = Object.fromEntries(
    before.acting.map((agent) => {
      const mask = env.actionMask?.(agent)
      return [agent, sampleSpace(env.actionSpace, random, { mask: sampled(env.actionSpace, mask) as never })]
    }),
  )
  const given = call(findings, 'step', t, () => env.step(actions as never))
  if (!same(before.observations, before.shown.observations))
    findings.add(
      'fresh',
      'observations',
      'were overwritten by the step after them: give fresh copies each time',
      {
        step: t,
      },
    )
  const now = look(env, findings, given, t)
  for (const field of ['terminated', 'truncated'] as const)
    if (typeof given[field] !== 'boolean')
      findings.add('ends', field, `is ${String(given[field])}, expected true or false`, { step: t })
  const over = given.terminated === true || given.truncated === true
  if (over && now.acting.length > 0)
    findings.add('acting', 'acting', `is ${now.acting.join(', ')} after the end, expected nobody`, {
      step: t,
    })
  if (!over && now.acting.length === 0)
    findings.add('acting', 'acting', 'is empty, but the episode is not over', { step: t })
  for (const agent of env.agents) {
    const reward: unknown = (given.rewards as ByAgent<unknown> | undefined)?.[agent]
    if (!Number.isFinite(reward))
      findings.add('not-finite', 'rewards', `of ${agent} is ${String(reward)}, expected a finite number`, {
        step: t,
      })
  }
  return { ...now, acting: over ? [] : now.acting }
}

function look(env: ParallelEnvironment, findings: Findings, given: ParallelReset<Space>, t: number): Now {
  const { observations, acting, ...rest } = (given ?? {}) as Partial<ReturnType<ParallelEnvironment['step']>>
  if (typeof observations !== 'object' || observations === null || !Array.isArray(acting)) {
    findings.add('shape', t === 0 ? 'reset' : 'step', 'gives no object with observations and acting', {
      step: t,
    })
    throw stop
  }
  for (const agent of env.agents) {
    const why = explainMismatch(env.observationSpace, (observations as ByAgent<unknown>)[agent], 'it')
    if (why !== undefined)
      findings.add('space', 'observations', `of ${agent} leave their space: ${why}`, { step: t })
  }
  const strangers = acting.filter((agent) => !env.agents.includes(agent))
  if (strangers.length > 0 || new Set(acting).size < acting.length) {
    findings.add('acting', 'acting', `is ${acting.join(', ')}, expected some of ${env.agents.join(', ')}`, {
      step: t,
    })
    throw stop
  }
  const over = rest.terminated === true || rest.truncated === true
  const masks = (over ? [] : acting).map((agent) => {
    const mask = env.actionMask?.(agent)
    if (
      mask !== undefined &&
      !lookAtMask(env.actionSpace, mask, findings, t, `of ${agent}, who has to act, `)
    )
      throw stop
    return mask && Array.from(mask)
  })
  const { rewards, terminated, truncated } = rest
  return {
    acting,
    observations,
    shown: structuredClone({ observations, acting, rewards, terminated, truncated, masks }),
  }
}

function checkEnd(env: ParallelEnvironment, findings: Findings, { seed, patience }: ManyAgentsOptions): void {
  const random = fastStream('check', 'patience', seed)
  let now = begin(env, findings, { seed })
  for (let t = 1; t <= patience; t++) {
    now = step(env, findings, now, random, t)
    if (now.acting.length === 0) return
  }
  findings.add('endless', 'terminated', `and truncated never came in ${patience} steps of random play`)
}

/** Every context feature changes what is shown. */
function checkFeatures(
  env: ParallelEnvironment,
  space: ContextSpace,
  findings: Findings,
  seed: number,
): void {
  for (const [name, { default: usual, low, high, extrapolate = [] }] of Object.entries(space)) {
    const values = [...new Set([low, high, ...extrapolate])].filter((value) => value !== usual)
    const acts = [0, 1, 2].some((k) => {
      const base = play(env, findings, seed + k, 100)
      return values.some((value) =>
        compare(base, play(env, findings, seed + k, 100, { context: { [name]: value } })),
      )
    })
    if (!acts) findings.add('context', name, 'changes nothing in 300 steps of random play')
  }
}

/** Whether two plays differ; `differs` is told where at first. */
function compare(
  one: readonly Shown[],
  other: readonly Shown[],
  differs?: (field: string, step: number) => void,
): boolean {
  for (const [t, shown] of one.entries()) {
    const field = fields.find((name) => !same(shown[name], other[t]?.[name]))
    if (field === undefined) continue
    differs?.(field, t)
    return true
  }
  return false
}
