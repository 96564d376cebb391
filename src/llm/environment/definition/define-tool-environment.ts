import { isDeepStrictEqual } from 'node:util'
import { defined } from '../../../defined.ts'
import type { EpisodeLimits } from '../../agent/episode-state.ts'
import type { Task, ToolEnvironment, ToolSession } from '../../agent/types.ts'
import { AgogeError } from '../../../error.ts'
import type { Score, Scored } from '../../episode/score.ts'
import type { Reward } from '../../reward/reward.ts'
import { callTool, readTools } from '../../tool/define-tools.ts'
import type { ReadTools, ToolLike } from '../../tool/define-tools.ts'
import { answers, follow, say } from './solution.ts'
import type { Move, Results, Step, WantedAnswer } from './solution.ts'
import { createTaskSource } from './task-source.ts'
import type { Draw, KindTaskSource } from './task-source.ts'

/**
 * A call of a plan, such as `['add_item', { text: 'milk' }]`. Or a function that returns the call, given the results of
 * the calls before it.
 */
export type PlanCall =
  | readonly [tool: string, args: Record<string, unknown>]
  | ((results: Results) => readonly [tool: string, args: Record<string, unknown>])

/** One task of a kind: the values for its prompt template, and the reference solution. */
export interface ToolDraft<State> {
  /** Values for the placeholders of the prompt template: `{ item: 'milk' }` for `Add <item>`. */
  holes?: Readonly<Record<string, string>>
  /** The whole prompt, for kinds without templates. */
  prompt?: string
  /** The calls of a reference solution, in order. The policy sees them only in demonstrations. Default: no calls. */
  plan?: readonly PlanCall[]
  /**
   * The required final answer: a text, a number, or a text with the other values that it could be confused with. An
   * answer that contains one of the others is wrong. Default: any answer is accepted, and the expert says "done".
   */
  answer?: string | number | { text: string; others: readonly string[] }
  /** The expert's final message. Default: the answer. */
  says?: string
  /** The state that counts as success. Default: the state after the plan. */
  goal?: State
  /** 1 is easiest. Default: the number of calls in the plan, at least 1. */
  difficulty?: number
  /** What the task is about, for reports. */
  context?: Record<string, unknown>
  /** Identifies the question: two tasks with the same key ask the same. See `TaskDraft`. */
  key?: string
}

/** A kind of task. */
export interface ToolTaskKind<State> {
  /** Prompt templates, such as `[Add|Put] <item> [on|to] my list`. `[a|b]` is a choice of words, `<item>` a placeholder. */
  templates?: readonly string[]
  /** Further templates in the same notation, for three quarters of the training tasks. No other split has them. Default: none. */
  trainingTemplates?: readonly string[]
  /**
   * Templates that are worded as no template of training, for the split `unseen-paraphrase`: a list, or lists by what is new in
   * them, of which each gets as many tasks. Default: none.
   */
  unseen?: readonly string[] | Readonly<Record<string, readonly string[]>>
  /** `several` if other states or answers than those of the plan are right too. Default: `one`. */
  solutions?: 'one' | 'several'
  /** Success rate of guessing without looking: one half for yes or no. Default: 0. */
  chance?: number
  /** Draws a task. It may change `state`. The episode then starts in the changed state. */
  draft: (state: State, draw: Draw) => ToolDraft<State>
}

/** A task with the initial state of its episodes. */
export interface DefinedTask<State> extends Task {
  start: State
  wanted: WantedAnswer
  /** Present only if the draft has a `goal`. */
  goal?: State
}

/** What a judge receives. A judge sees the outcome, never the calls that led to it. */
export interface JudgeInputs<State> {
  /** The state at the end of the episode. */
  state: State
  /** The state at the start of the episode. */
  start: State
  /** The `goal` of the draft, or the state after its plan. */
  goal: State
  /** The final answer. Null if the episode ended without one. */
  answer: string | null
  /** Whether the answer is correct. */
  answered: boolean
  task: DefinedTask<State>
}

/** What `defineToolEnvironment` takes. `State` is the state of an episode, plain data. Only `name`, `state` and `kinds` are required. */
export interface ToolEnvironmentDefinition<State> {
  /** Name in episodes, reports and task ids. */
  name: string
  /** Description in one line, for lists of environments. */
  about?: string
  /** System prompt of every conversation. Default: none. */
  system?: string
  /** Draws the initial state: plain data that `structuredClone` can copy. Each episode gets its own copy. */
  state: (draw: Draw) => State
  /**
   * Makes the tools of one episode, which read and change its state. Their format is that of the AI SDK's `tool`.
   * Default: no tools, for environments that only ask questions.
   */
  tools?: (state: State) => Record<string, ToolLike>
  /** Selects what counts of a state, for `agoge audit`: leave out logs and counters. Default: all of it. */
  observe?: (state: State) => unknown
  /** The kinds of tasks, by name. */
  kinds: Readonly<Record<string, ToolTaskKind<State>>>
  /** Judges an episode. Default: success if the state equals `goal` and the answer is correct. */
  judge?: (inputs: JudgeInputs<State>) => boolean | Score | Promise<boolean | Score>
  /** How tasks are divided into train, validation and test. See `TaskSourceSettings`. Default: `hash`. */
  splits?: 'hash' | 'own'
  /** Reward for training. Default: success minus a small cost for each call. */
  reward?: Reward
  /** Demonstrations in the warm start: a number for every kind, or one for each. Default: 400 in total, shared evenly. */
  demonstrations?: number | Readonly<Record<string, number>>
  /** Limits of an episode. Default of a missing one: that of the training plan, such as 6 turns and 640 tokens. */
  limits?: Partial<EpisodeLimits>
}

/** An environment with its tasks. `agoge train FILE.ts` trains on the one that the module exports as `environment`. */
export interface DefinedToolEnvironment<State = unknown> extends Pick<
  ToolEnvironmentDefinition<State>,
  'name' | 'about' | 'reward' | 'demonstrations' | 'limits'
> {
  readonly tasks: KindTaskSource<DefinedTask<State>>
  /**
   * Makes the environment that runs and judges the episodes of these tasks.
   *
   * @throws AgogeError if a tool cannot be used.
   */
  create(): Promise<ToolEnvironment<DefinedTask<State>>>
}

/**
 * Defines an environment whose tasks are solved with tools. The definition gives the initial state, the tools and the
 * kinds of tasks. From these come the tasks with their splits and ids, the demonstrations and the default judge. Every
 * episode has its own copy of the state.
 *
 * @returns the environment. Train on it with `agoge train FILE.ts` or `train()`. Check it with `checkToolEnvironment`.
 * @throws AgogeError `bad-environment` if the definition has no kinds.
 * @example
 * export const environment = defineToolEnvironment({
 *   name: 'todo',
 *   state: ({ random, words }) => ({ items: random.shuffle(words.nouns).slice(0, 3) }),
 *   tools: (state) => ({
 *     add_item: {
 *       description: 'Adds an item.',
 *       inputSchema: { type: 'object', properties: { item: { type: 'string' } }, required: ['item'] },
 *       execute: ({ item }: { item: string }) => void state.items.push(item),
 *     },
 *   }),
 *   kinds: {
 *     add: {
 *       templates: ['[Add|Put] <item> [on|to] my list'],
 *       draft: (_, { random, words }) => {
 *         const item = random.pick(words.nouns)
 *         return { holes: { item }, plan: [['add_item', { item }]] }
 *       },
 *     },
 *   },
 * })
 */
export function defineToolEnvironment<State>(
  definition: ToolEnvironmentDefinition<State>,
): DefinedToolEnvironment<State> {
  const { name, about, reward, demonstrations, limits, splits, kinds } = definition
  if (Object.keys(kinds).length === 0) {
    throw new AgogeError(`${name} has no kind of task`, {
      code: 'bad-environment',
      given: 'kinds: {}',
      expected: 'at least one kind with templates and a draft',
    })
  }
  const tasks = createTaskSource({
    name,
    state: definition.state,
    ...(splits && { splits }),
    kinds: Object.fromEntries(
      Object.entries(kinds).map(([kind, { draft, ...given }]) => [
        kind,
        {
          ...given,
          draft: (state: State, draw: Draw) => withExpert(draft(state, draw)),
        },
      ]),
    ),
    extra: (
      state,
      { wanted, goal },
    ): Pick<DefinedTask<State>, 'start' | 'wanted' | 'goal' | 'freeAnswer'> => ({
      start: state,
      wanted,
      freeAnswer: wanted.kind === 'any',
      ...defined({ goal }),
    }),
  })
  return {
    name,
    ...defined({ about }),
    ...(reward && { reward }),
    ...defined({ demonstrations }),
    ...(limits && { limits }),
    tasks,
    create: () => createEnvironment(definition, tasks),
  }
}

/** Returns the draft with its plan as an expert policy, and with the required answer. */
function withExpert<State>(draft: ToolDraft<State>) {
  const { plan = [], answer } = draft
  const wanted = wantedAnswer(answer)
  const text = typeof answer === 'object' ? answer.text : String(answer ?? 'done')
  const steps = plan.map((call): Step =>
    typeof call === 'function' ? (results) => moveOf(call(results)) : moveOf(call),
  )
  return {
    ...draft,
    wanted,
    plan: follow(...steps, say(draft.says ?? text)),
    difficulty: draft.difficulty ?? Math.max(1, plan.length),
  }
}

const moveOf = ([name, args]: readonly [string, Record<string, unknown>]): Move => ({
  call: { name, arguments: args },
})

function wantedAnswer(answer: ToolDraft<unknown>['answer']): WantedAnswer {
  if (answer === undefined) return { kind: 'any' }
  if (typeof answer === 'number') return { kind: 'number', number: answer }
  return typeof answer === 'string' ? { kind: 'text', text: answer, others: [] } : { kind: 'text', ...answer }
}

async function createEnvironment<State>(
  definition: ToolEnvironmentDefinition<State>,
  tasks: KindTaskSource<DefinedTask<State>>,
): Promise<ToolEnvironment<DefinedTask<State>>> {
  const { name, system, tools = () => ({}), judge = defaultJudge, observe = whole } = definition
  // Schemas are read once. Each session has its own functions, which work on its own state.
  const toolset = await readTools(tools(copyOf(name, tasks.task({ split: 'train', seed: 0 }).start)))

  const startEpisode = (start: State): { state: State; call: ToolSession['call'] } => {
    const state = copyOf(name, start)
    const episodeTools = tools(state)
    return {
      state,
      call: (tool, args, options) => callTool(withFunctions(episodeTools, toolset), tool, args, options),
    }
  }

  return {
    name,
    tools: toolset.specs,
    ...defined({ system }),
    async open(task) {
      const { state, call } = startEpisode(task.start)
      return {
        specs: toolset.specs,
        call,
        async judge({ answer }) {
          const goal = task.goal ?? (await stateAfterPlan(task, startEpisode))
          const answered = answers(task.wanted, answer)
          const judged = await judge({ state, start: task.start, goal, answer, answered, task })
          return typeof judged === 'boolean' ? Number(judged) : judged
        },
        // A copy, since later calls change the state.
        observe: async () => structuredClone(observe(state)),
        close: async () => {},
      }
    },
    close: async () => {},
  }
}

const whole = (state: unknown): unknown => state

/** The default judge: success if the state equals the goal and the answer is correct. */
function defaultJudge<State>({ state, goal, answered }: JudgeInputs<State>): Scored<'state' | 'answer'> {
  const isGoal = isDeepStrictEqual(state, goal)
  return {
    value: Number(isGoal && answered),
    parts: { state: isGoal ? 1 : 0, answer: answered ? 1 : 0 },
    ...(isGoal && answered
      ? {}
      : { reason: isGoal ? 'the answer is not the wanted one' : 'the state is not the wanted one' }),
  }
}

/** Runs the plan of a task on a copy of its start, and returns the state at the end. */
async function stateAfterPlan<State>(
  task: DefinedTask<State>,
  startEpisode: (start: State) => { state: State; call: ToolSession['call'] },
): Promise<State> {
  const { state, call } = startEpisode(task.start)
  const results: { text: string; isError: boolean }[] = []
  for (;;) {
    const move = task.plan(results)
    if ('answer' in move) return state
    results.push(await call(move.call.name, move.call.arguments))
  }
}

/** Returns the tools with the same schemas and the functions of one session. */
function withFunctions(episodeTools: Record<string, ToolLike>, toolset: ReadTools): ReadTools {
  return {
    specs: toolset.specs,
    entries: new Map(
      [...toolset.entries].map(([name, { schema, tool }]) => [
        name,
        { schema, tool: episodeTools[name] ?? tool },
      ]),
    ),
  }
}

function copyOf<State>(name: string, state: State): State {
  try {
    return structuredClone(state)
  } catch (cause) {
    throw new AgogeError(`The state of ${name} cannot be copied for an episode`, {
      code: 'bad-environment',
      given: cause instanceof Error ? cause.message : cause,
      expected: 'plain data: no functions and no open connections',
      hint: 'Keep functions in `tools`. An environment over a server implements ToolEnvironment itself',
      cause,
    })
  }
}
