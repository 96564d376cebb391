import { isDeepStrictEqual } from 'node:util'
import { defined } from '../../../defined.ts'
import type { EpisodeLimits } from '../../agent/episode-state.ts'
import type { Task, ToolEnvironment, ToolSession } from '../../agent/types.ts'
import { AgogeError } from '../../../error.ts'
import type { Score, Scored } from '../../episode/score.ts'
import type { Reward } from '../../reward/reward.ts'
import { callTool, readTools } from '../../tool/define-tools.ts'
import type { ReadTools, ToolLike } from '../../tool/define-tools.ts'
import { answers } from './answer.ts'
import type { WantedAnswer } from './answer.ts'
import { follow, say } from './plan.ts'
import type { Move, Results, Step } from './plan.ts'
import { createTaskSource } from './task-source.ts'
import type { Draw, KindTaskSource } from './task-source.ts'

/**
 * A call of a plan, such as `['add_item', { text: 'milk' }]`, or a function that makes the call from the results so
 * far.
 */
export type PlanCall =
  | readonly [tool: string, args: Record<string, unknown>]
  | ((results: Results) => readonly [tool: string, args: Record<string, unknown>])

/** One task of a kind: the values for its prompt template, and the reference solution. */
export interface ToolDraft<State> {
  /** Values for the placeholders of the template: `{ item: 'milk' }` for `Add <item>`. */
  holes?: Readonly<Record<string, string>>
  /** The whole prompt, for kinds without templates. */
  prompt?: string
  /** The calls of a reference solution, in order. Demonstrations show them; the policy never sees them. */
  plan?: readonly PlanCall[]
  /**
   * The required final answer: a text, a number, a text with the values it could be confused with, or a function of the
   * plan's results. With a function, `wanted` gives the required answer. Default: any answer is accepted, and the
   * expert says "done".
   */
  answer?: string | number | { text: string; others: readonly string[] }
  /** The expert's final message. Default: the answer. */
  says?: string
  /** The state that counts as success. Default: the state after the plan. */
  goal?: State
  /** 1 = easiest. Default: the number of calls, at least 1. */
  difficulty?: number
  /** What the task is about, for reports. */
  context?: Record<string, unknown>
  /** Identifies the question; see `TaskDraft`. */
  key?: string
}

/** A kind of task. */
export interface ToolTaskKind<State> {
  /** Prompt templates: `[Add|Put] <item> [on|to] my list`. */
  templates?: readonly string[]
  /** Optional templates with other words, for measuring success on unseen paraphrases. */
  unseen?: readonly string[]
  /** Draws a task. It may change the state; the changed state is then the initial state of the episode. */
  draft: (state: State, draw: Draw) => ToolDraft<State>
}

/** A task with the initial state of its episodes. */
export interface DefinedTask<State> extends Task {
  start: State
  wanted: WantedAnswer
  /** Present only if the draft has a `goal`. */
  goal?: State
}

/** What a judge receives. It never contains the text of the calls. */
export interface JudgeInputs<State> {
  /** The states at the end and at the start of the episode. */
  state: State
  start: State
  /** The `goal` of the draft, or the state after its plan. */
  goal: State
  answer: string | null
  /** Whether the answer is the required one. */
  answered: boolean
  task: DefinedTask<State>
}

export interface ToolEnvironmentDefinition<State> {
  /** Name in episodes, reports and task ids. */
  name: string
  /** One line for lists. */
  about?: string
  /** System prompt of every conversation. Default: none. */
  system?: string
  /** Draws the initial state: plain data that `structuredClone` can copy. Each episode gets its own copy. */
  state: (draw: Draw) => State
  /**
   * The tools over the state of one episode, in the shape of the AI SDK's `tool`. Default: none, for environments that
   * only ask questions.
   */
  tools?: (state: State) => Record<string, ToolLike>
  kinds: Readonly<Record<string, ToolTaskKind<State>>>
  /** Default: succeeds if the state equals `goal` and the answer is the required one. */
  judge?: (inputs: JudgeInputs<State>) => boolean | Score | Promise<boolean | Score>
  /** See `TaskSourceSettings`. Default: `hash`. */
  splits?: 'hash' | 'own'
  /** Default: success minus a small cost for each call. */
  reward?: Reward
  /** Demonstrations of each kind in the warm start: one number, or one for each kind. Default: 400, shared evenly. */
  demonstrations?: number | Readonly<Record<string, number>>
  /** Overrides the default limits of an episode (6 turns, 640 tokens). */
  limits?: Partial<EpisodeLimits>
}

/** A complete environment in one value. `agoge train FILE.ts` takes a module that exports it as `environment`. */
export interface DefinedToolEnvironment<State = unknown> extends Pick<
  ToolEnvironmentDefinition<State>,
  'name' | 'about' | 'reward' | 'demonstrations' | 'limits'
> {
  readonly tasks: KindTaskSource<DefinedTask<State>>
  /**
   * Makes the environment for these tasks: sessions and judge.
   *
   * @throws AgogeError if a tool cannot be used.
   */
  create(): Promise<ToolEnvironment<DefinedTask<State>>>
}

/**
 * Defines an environment whose tasks are solved with tools. You give the initial state, the tools and the kinds of
 * tasks; the tasks with their splits and ids, an isolated state for each episode, demonstrations and the judge follow.
 *
 * @returns the environment; train on it with `agoge train FILE.ts` or `train()`, check it with `checkToolEnvironment`.
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
      Object.entries(kinds).map(([kind, { templates, unseen, draft }]) => [
        kind,
        {
          ...(templates && { templates }),
          ...(unseen && { unseen }),
          draft: (state: State, draw: Draw) => withExpert(draft(state, draw)),
        },
      ]),
    ),
    extra: (state, { wanted, goal }): Pick<DefinedTask<State>, 'start' | 'wanted' | 'goal'> => ({
      start: state,
      wanted,
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

/** The draft with its expert and the required answer. */
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
  const { name, system, tools = () => ({}), judge = reached } = definition
  // Schemas are read once. Each session binds the functions to its own state.
  const read = await readTools(tools(copyOf(name, tasks.task({ split: 'train', seed: 0 }).start)))

  const play = (start: State): { state: State; call: ToolSession['call'] } => {
    const state = copyOf(name, start)
    const own = tools(state)
    return { state, call: (tool, args, options) => callTool(boundTo(own, read), tool, args, options) }
  }

  return {
    name,
    tools: read.specs,
    ...defined({ system }),
    async open(task) {
      const { state, call } = play(task.start)
      return {
        specs: read.specs,
        call,
        async judge({ answer }) {
          const goal = task.goal ?? (await goalOf(task, play))
          const answered = answers(task.wanted, answer)
          const judged = await judge({ state, start: task.start, goal, answer, answered, task })
          return typeof judged === 'boolean' ? Number(judged) : judged
        },
        close: async () => {},
      }
    },
    close: async () => {},
  }
}

/** The default judge. */
function reached<State>({ state, goal, answered }: JudgeInputs<State>): Scored<'state' | 'answer'> {
  const same = isDeepStrictEqual(state, goal)
  return {
    value: Number(same && answered),
    parts: { state: same ? 1 : 0, answer: answered ? 1 : 0 },
    ...(same && answered
      ? {}
      : { reason: same ? 'the answer is not the wanted one' : 'the state is not the wanted one' }),
  }
}

/** Returns the state after the plan of a task. */
async function goalOf<State>(
  task: DefinedTask<State>,
  play: (start: State) => { state: State; call: ToolSession['call'] },
): Promise<State> {
  const { state, call } = play(task.start)
  const results: { text: string; isError: boolean }[] = []
  for (;;) {
    const move = task.plan(results)
    if ('answer' in move) return state
    results.push(await call(move.call.name, move.call.arguments))
  }
}

/** Combines the schemas that were read with the functions of this session. */
function boundTo(own: Record<string, ToolLike>, read: ReadTools): ReadTools {
  return {
    specs: read.specs,
    entries: new Map(
      [...read.entries].map(([name, { schema, tool }]) => [name, { schema, tool: own[name] ?? tool }]),
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
