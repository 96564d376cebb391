import { requireSameStep } from '../environment/index.ts'
import type { AnyVector, DiscreteSpace } from '../environment/index.ts'
import { AgogeError } from '../../error.ts'
import { placeOf } from '../policy/index.ts'
import { createRandom } from '../../engine/random/index.ts'
import type { Random } from '../../engine/random/index.ts'
import {
  type ClassicAgent,
  type ClassicAlgorithm,
  stateOfArray,
  stateOfFields,
  stateOfParts,
} from '../algorithm/agent.ts'
import { checkSettings } from '../algorithm/check-settings.ts'
import {
  discreteActions,
  epsilonAt,
  type EpsilonSchedule,
  greedy,
  maskOrNone,
  randomAction,
} from '../algorithm/action-values/action-values.ts'

/** Settings of tabular methods. */
export interface TabularConfig extends EpsilonSchedule {
  /** Share of an error that a step corrects. 1 suits deterministic environments. */
  stepSize: number
  gamma: number
  /**
   * Initial values. Default: 0. Values above the true ones make the agent explore (Sutton & Barto 2018, section
   * 2.6).
   */
  initialValue?: number
}

/** One step of one environment. Every call gets the same object. */
export interface TabularStep {
  envIndex: number
  state: number
  action: number
  reward: number
  nextState: number
  /** The next action. If the episode has ended, the action that would have followed. */
  nextAction: number
  /** True if `nextAction` is greedy. */
  nextIsGreedy: boolean
  /** The task has ended: the next state has value 0. */
  terminated: boolean
  /** The episode has ended: terminated or truncated. */
  ended: boolean
  epsilon: number
}

/** The tables that a rule reads and writes. The agent acts by `q` [states, actions]. */
export interface Tables {
  readonly states: number
  readonly actions: number
  readonly numEnvs: number
  readonly q: Float64Array
  /** The greatest value of the allowed actions in the step's next state, and that action. */
  readonly best: (values: Float64Array, step: TabularStep) => number
  readonly bestAction: (values: Float64Array, step: TabularStep) => number
  /** The expected value of the next state under the epsilon-greedy policy. */
  readonly expected: (step: TabularStep) => number
}

/** Learns from a step. Its own state between steps is in `state`. */
export interface TabularRule {
  learn(step: TabularStep): void
  state?(): unknown
  restore?(state: unknown): void
}

/** Makes the rule of a method. `random` is the random stream of the agent. */
export type MakeRule = (tables: Tables, random: { next(): number }) => TabularRule

/**
 * A tabular learner of action values with an epsilon-greedy policy. `makeRule` defines how a step changes the
 * table. The next action is chosen before the table changes. For environments with a discrete observation and a
 * discrete action.
 *
 * @throws AgogeError `bad-argument` for settings outside their range, `unsupported-space` for other environments
 */
export function tabular(name: string, config: TabularConfig, makeRule: MakeRule): ClassicAlgorithm {
  checkSettings(config)
  return async (environment, { seed, totalSteps }): Promise<ClassicAgent> => {
    const { definition, observations } = environment
    requireSameStep(environment, name)
    const { n: actions, start } = discreteActions(definition, name)
    const space = discreteStates(environment, name)
    const numEnvs = environment.envs.count
    const tables = createTables({ states: space.n, actions, numEnvs }, config.initialValue ?? 0)
    const { q } = tables
    const drawing = createRandom(name, seed)
    const rule = makeRule(tables, drawing)
    const before = new Int32Array(numEnvs)
    /** Actions for the coming step. -1: not chosen yet. */
    const upcoming = new Int32Array(numEnvs).fill(-1)
    const step = createStep()
    const progress = { seen: 0 }

    function learnEnv(envIndex: number): void {
      readStep(environment, envIndex, step)
      step.state = before[envIndex]
      step.action = environment.actions[envIndex] - start
      step.nextState -= space.start
      tables.allow(step.ended ? environment.finalActionMask : environment.actionMask, envIndex)
      step.nextAction = chooseAction(tables, drawing, step.nextState, step.epsilon)
      step.nextIsGreedy = q[step.nextState * actions + step.nextAction] === tables.best(q, step)
      rule.learn(step)
      upcoming[envIndex] = step.ended ? -1 : step.nextAction
    }

    return {
      act() {
        for (let envIndex = 0; envIndex < numEnvs; envIndex++) {
          before[envIndex] = observations[envIndex] - space.start
          if (upcoming[envIndex] < 0) {
            tables.allow(environment.actionMask, envIndex)
            const epsilon = epsilonAt(config, progress.seen, totalSteps)
            upcoming[envIndex] = chooseAction(tables, drawing, before[envIndex], epsilon)
          }
          environment.actions[envIndex] = start + upcoming[envIndex]
        }
      },
      learn() {
        step.epsilon = epsilonAt(config, progress.seen, totalSteps)
        for (let envIndex = 0; envIndex < numEnvs; envIndex++) learnEnv(envIndex)
        progress.seen += numEnvs
        return undefined
      },
      predict: (given, rows, to, mask) =>
        eachGreedy({ tables, space }, given, rows, mask, (r, _, action) => (to[r] = start + action)),
      values: (given, rows, to, mask) =>
        eachGreedy(
          { tables, space },
          given,
          rows,
          mask,
          (r, state, action) => (to[r] = q[state * actions + action]),
        ),
      ...stateOfParts({
        q: stateOfArray(q),
        rule: { state: () => rule.state?.(), restore: (saved) => rule.restore?.(saved) },
        random: drawing,
        upcoming: stateOfArray(upcoming),
        ...stateOfFields(progress, ['seen']),
      }),
      dispose: () => Promise.resolve(),
    }
  }
}

/** The table, with the allowed actions of the current state. */
interface MaskedTables extends Tables {
  /** [actions]: 1 where an action is allowed. While a rule learns, those of the step's next state. */
  readonly allowed: Uint8Array
  /** Sets `allowed` to a row of the masks. Without masks, does nothing. */
  allow(masks: Uint8Array, envIndex: number): void
  /** The allowed action of the greatest value in a state. */
  greedyIn(values: Float64Array, state: number): number
}

function createTables(
  { states, actions, numEnvs }: Pick<Tables, 'states' | 'actions' | 'numEnvs'>,
  initialValue: number,
): MaskedTables {
  const q = new Float64Array(states * actions).fill(initialValue)
  const allowed = new Uint8Array(actions).fill(1)
  const row = new Float64Array(actions)
  const greedyIn = (values: Float64Array, state: number): number => {
    for (let a = 0; a < actions; a++) row[a] = values[state * actions + a]
    return greedy(row, 0, actions, allowed)
  }
  return {
    states,
    actions,
    numEnvs,
    q,
    allowed,
    greedyIn,
    allow(masks, envIndex) {
      const mask = maskOrNone(masks)
      if (mask !== undefined) for (let a = 0; a < actions; a++) allowed[a] = mask[envIndex * actions + a]
    },
    best: (values, { nextState }) => values[nextState * actions + greedyIn(values, nextState)],
    bestAction: (values, { nextState }) => greedyIn(values, nextState),
    expected({ nextState, epsilon }) {
      let sum = 0
      let count = 0
      for (let a = 0; a < actions; a++) {
        if (allowed[a] === 0) continue
        sum += q[nextState * actions + a]
        count++
      }
      const highest = q[nextState * actions + greedyIn(q, nextState)]
      return (1 - epsilon) * highest + (count === 0 ? 0 : (epsilon * sum) / count)
    },
  }
}

/** Epsilon-greedy among the allowed actions. */
function chooseAction(tables: MaskedTables, drawing: Random, state: number, epsilon: number): number {
  if (drawing.next() < epsilon) return randomAction(drawing, 0, tables.actions, tables.allowed)
  return tables.greedyIn(tables.q, state)
}

const createStep = (): TabularStep => ({
  envIndex: 0,
  state: 0,
  action: 0,
  reward: 0,
  nextState: 0,
  nextAction: 0,
  nextIsGreedy: false,
  terminated: false,
  ended: false,
  epsilon: 0,
})

/** Writes the environment's last step into `step`. `nextState` is the raw observation. */
function readStep(environment: AnyVector, envIndex: number, step: TabularStep): void {
  step.envIndex = envIndex
  step.reward = environment.rewards[envIndex]
  step.terminated = environment.terminated[envIndex] === 1
  step.ended = step.terminated || environment.truncated[envIndex] === 1
  step.nextState = (step.ended ? environment.finalObservations : environment.observations)[envIndex]
}

/** Calls back with the row of each observation, its state and its greedy action. */
function eachGreedy(
  { tables, space }: { tables: MaskedTables; space: DiscreteSpace },
  observations: Float32Array,
  rows: number,
  mask: Uint8Array | undefined,
  write: (row: number, state: number, action: number) => void,
): void {
  tables.allowed.fill(1)
  for (let r = 0; r < rows; r++) {
    if (mask !== undefined) tables.allow(mask, r)
    const state = placeOf(space, observations[r])
    write(r, state, tables.greedyIn(tables.q, state))
  }
  tables.allowed.fill(1)
}

function discreteStates({ definition }: AnyVector, name: string): DiscreteSpace {
  if (definition.observation.type === 'discrete') return definition.observation
  throw new AgogeError(`${name} cannot learn ${definition.name}: it needs discrete states`, {
    code: 'unsupported-space',
    given: definition.observation.type,
    expected: 'a discrete observation',
    hint: 'use dqn or ppo',
  })
}
