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

/** A call of a plan, `['add_item', { text: 'milk' }]`, or one that depends on the results so far. */
export type PlanCall =
  | readonly [tool: string, args: Record<string, unknown>]
  | ((results: Results) => readonly [tool: string, args: Record<string, unknown>])

/** One task of a kind: what fills its prompt template, and how an expert does it. */
export interface ToolDraft<State> {
  /** What stands in the holes of the templates: `{ item: 'milk' }` for `Add <item>`. */
  holes?: Readonly<Record<string, string>>
  /** The whole prompt, where the kind has no templates. */
  prompt?: string
  /** The calls of a reference solution, in order. It is shown as a demonstration and never to the policy. */
  plan?: readonly PlanCall[]
  /**
   * What has to be said in the end, and what the expert says: a text, a number, a text with the values that it could be mixed up with, or
   * a function of the results of the plan where `wanted` says what is right. Default: anything will do, and the expert says "done".
   */
  answer?: string | number | { text: string; others: readonly string[] }
  /** What the expert says. Default: the answer. */
  says?: string
  /** The state that counts as done. Default: the one that the plan leaves. */
  goal?: State
  /** 1 = easiest. Default: the number of calls, at least 1. */
  difficulty?: number
  /** For reports: what the task is about. */
  context?: Record<string, unknown>
  /** Names what is asked; see `TaskDraft`. */
  key?: string
}

/** A kind of task. */
export interface ToolTaskKind<State> {
  /** How requests are worded: `[Add|Put] <item> [on|to] my list`. */
  templates?: readonly string[]
  /** Templates from other words, for the measure on unseen paraphrases; may be left out. */
  unseen?: readonly string[]
  /** Draws a task. It may change the state: that is then where the episode begins. */
  draft: (state: State, draw: Draw) => ToolDraft<State>
}

/** A task with the state that its episodes begin in. */
export interface DefinedTask<State> extends Task {
  start: State
  wanted: WantedAnswer
  /** Only where the draft gave one. */
  goal?: State
}

/** What a judge looks at: never the text of the calls. */
export interface JudgeInputs<State> {
  /** The state as the episode left it, and as it began. */
  state: State
  start: State
  /** The state that the draft named, or that its plan leaves. */
  goal: State
  answer: string | null
  /** Whether the answer is the one that the draft names. */
  answered: boolean
  task: DefinedTask<State>
}

export interface ToolEnvironmentDefinition<State> {
  /** In episodes, reports and the ids of tasks. */
  name: string
  /** One line for lists. */
  about?: string
  /** Text in front of every conversation. Default: none. */
  system?: string
  /** Draws the initial state: plain data (whatever `structuredClone` copies). Each episode has a copy of its own. */
  state: (draw: Draw) => State
  /** The tools over the state of one episode, objects of the AI SDK's `tool` shape. None for an environment of questions alone. */
  tools?: (state: State) => Record<string, ToolLike>
  kinds: Readonly<Record<string, ToolTaskKind<State>>>
  /** Default: the state equals `goal`, and the answer is the one that the draft names. */
  judge?: (inputs: JudgeInputs<State>) => boolean | Score | Promise<boolean | Score>
  /** See `TaskSourceSettings`. Default `hash`. */
  splits?: 'hash' | 'own'
  /** Default: success, less small costs of calls. */
  reward?: Reward
  /** Demonstrations of each kind in the warm start: one number, or by name. Default: 400 shared evenly. */
  demonstrations?: number | Readonly<Record<string, number>>
  /** What differs from the usual limits of an episode (6 turns, 640 tokens). */
  limits?: Partial<EpisodeLimits>
}

/** An environment in one value: `agoge train FILE.ts` takes a module that exports it as `environment`. */
export interface DefinedToolEnvironment<State = unknown> extends Pick<
  ToolEnvironmentDefinition<State>,
  'name' | 'about' | 'reward' | 'demonstrations' | 'limits'
> {
  readonly tasks: KindTaskSource<DefinedTask<State>>
  /** The environment of these tasks: sessions and judge. @throws AgogeError for a tool that cannot be used. */
  create(): Promise<ToolEnvironment<DefinedTask<State>>>
}

/**
 * Defines an environment of tasks that an agent does through tools. Tasks, their splits and ids, private sessions, demonstrations and the judge
 * follow from it.
 *
 * @throws AgogeError `bad-environment` for a definition without kinds.
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

/** The draft with its expert and the answer that is wanted. */
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
  // Schemas are read once; each session binds the functions to its own state.
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

/** The state that the plan of a task leaves. */
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

/** The schemas that were read, with the functions of this session. */
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
