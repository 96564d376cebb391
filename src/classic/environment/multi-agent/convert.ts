import type { Member, Space } from '../space.ts'
import { checkActors, checkBegun, checkMove } from './check-move.ts'
import type { ByAgent, ParallelEnvironment, ParallelReset, Turn, TurnEnvironment } from './environment.ts'

/**
 * The turn form of a parallel environment: those who act at once give their actions one after the other, in the order of
 * `acting`, none seeing another's; with the last one the environment moves on and pays. Moves are checked when they are made.
 */
export function turnsOf<O extends Space, A extends Space>(
  parallel: ParallelEnvironment<O, A>,
): TurnEnvironment<O, A> {
  const name = parallel.name ?? 'the environment'
  const nothing = Object.fromEntries(parallel.agents.map((agent) => [agent, 0]))
  let observations: ByAgent<Member<O>> = {}
  /** Those who have yet to act before the environment moves on. */
  let waiting: readonly string[] = []
  let chosen: Record<string, Member<A>> = {}

  function next(definition: ParallelReset<O>): Pick<Turn, 'agent' | 'acting'> {
    ;({ observations, acting: waiting } = definition)
    chosen = {}
    return { agent: waiting[0] ?? null, acting: waiting }
  }

  return {
    ...shared(parallel),
    reset: (options) => ({
      ...next(parallel.reset(options)),
      rewards: nothing,
      terminated: false,
      truncated: false,
    }),
    step(action) {
      checkBegun(name, waiting)
      const [agent, ...others] = waiting
      checkMove(name, agent, parallel.actionSpace, action, parallel.actionMask?.(agent))
      chosen[agent] = action
      waiting = others
      if (others.length > 0) {
        return { agent: others[0], acting: others, rewards: nothing, terminated: false, truncated: false }
      }
      const { rewards, terminated, truncated, ...definition } = parallel.step(chosen)
      return { ...next(definition), rewards, terminated, truncated }
    },
    observe: (agent) => observations[agent],
  }
}

/**
 * The parallel form of a turn environment: a step takes the actions of all in `acting` and makes their turns one after
 * the other; in a game of strict turns that is one agent a step. Rewards of the turns are added up. Converting there and
 * back gives what one began with.
 */
export function parallelOf<O extends Space, A extends Space>(
  turns: TurnEnvironment<O, A>,
): ParallelEnvironment<O, A> {
  const name = turns.name ?? 'the environment'
  let acting: readonly string[] = []

  function look(turn: Turn): ParallelReset<O> {
    ;({ acting } = turn)
    const observations = Object.fromEntries(turns.agents.map((agent) => [agent, turns.observe(agent)]))
    return { observations, acting }
  }

  return {
    ...shared(turns),
    reset: (options) => look(turns.reset(options)),
    step(actions) {
      checkActors(name, acting, actions)
      for (const agent of acting)
        checkMove(name, agent, turns.actionSpace, actions[agent], turns.actionMask?.(agent))
      const [first, ...others] = acting
      let turn = turns.step(actions[first])
      const rewards: Record<string, number> = { ...turn.rewards }
      for (const agent of others) {
        if (turn.terminated || turn.truncated) break
        turn = turns.step(actions[agent])
        for (const [other, reward] of Object.entries(turn.rewards)) rewards[other] += reward
      }
      const { terminated, truncated } = turn
      return { ...look(turn), rewards, terminated, truncated }
    },
  }
}

type ManyAgents<O extends Space, A extends Space> = ParallelEnvironment<O, A> | TurnEnvironment<O, A>

/** What both forms have alike. */
function shared<O extends Space, A extends Space>(environment: ManyAgents<O, A>) {
  const { name, agents, observationSpace, actionSpace, contextSpace } = environment
  return {
    ...(name === undefined ? {} : { name }),
    agents,
    observationSpace,
    actionSpace,
    ...(contextSpace === undefined ? {} : { contextSpace }),
    ...(environment.actionMask === undefined
      ? {}
      : { actionMask: (agent: string) => environment.actionMask?.(agent) ?? [] }),
    ...(environment.close === undefined ? {} : { close: () => environment.close?.() }),
  }
}
