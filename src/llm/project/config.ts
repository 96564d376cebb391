import { AgogeError } from '../../error.ts'
import type { LanguageModel } from '../agent/ai-sdk/read-call.ts'
import type { FileTask } from '../environment/mcp/goals/task-file.ts'
import type { Episode } from '../episode/types.ts'
import type { Score, Scored, Unscored } from '../episode/score.ts'
import type { AgentSetup } from '../setup/setup.ts'
import type { Verify } from '../setup/test-time.ts'
import type { EnvironmentTool, McpReference } from './environment.ts'
import type { OptimiseSettings } from './optimise-settings.ts'
import type { ToolRule } from './tools.ts'

/** The rules of tools, by the name of the tool. */
export type ToolRules = Readonly<Record<string, ToolRule>>

/** Tools as the agent gets them. Where the config names none, all are of the environment. */
export type AgentTools<Tools extends ToolRules> = string extends keyof Tools
  ? Record<string, EnvironmentTool>
  : { [Name in keyof Tools]: Tools[Name]['tool'] }

/** An address where the model under test answers, and the key of one trial. */
export interface AgentEndpoint {
  /** Ends with `/v1`. Chat Completions, Responses and Anthropic's Messages are answered there, streamed and whole, with tools. */
  baseURL: string
  apiKey: string
  /** The name of the model. Any other name is answered by it too. */
  model: string
}

/** What an agent receives besides its task. */
export interface AgentEnvironment<Tools extends ToolRules = ToolRules> {
  /**
   * The model under test, as a model object of the AI SDK. Its calls are counted, limited, retried and recorded. Calls that go
   * neither through it nor through `endpoint` are not counted.
   */
  model: LanguageModel
  /**
   * The same model as an address of this machine, for agents of other SDKs and languages. All that is said of `model` holds for its
   * calls. A call that has failed for good is answered with status 400, and one that the budget does not allow with 402: no client
   * tries these again.
   *
   * @example
   * const { baseURL, apiKey, model } = await endpoint()
   * const client = new OpenAI({ baseURL, apiKey })
   */
  endpoint: () => Promise<AgentEndpoint>
  /** The tools of the environment and of the config by name. Those of the config act by their rules. */
  tools: AgentTools<Tools>
  /** Aborts when the time of the trial is over, or the evaluation is stopped. */
  signal: AbortSignal
  /** The number of this trial of the task, from 0. */
  trial: number
}

/** The agent: does the task and returns its answer, a text or any value that JSON can hold. */
export type Agent<Output = unknown, Tools extends ToolRules = ToolRules> = (
  task: FileTask,
  environment: AgentEnvironment<Tools>,
) => Output | Promise<Output>

/** A finished trial, as scorers read it: its episode, with the task and what the agent returned. */
export interface Trial<Output = unknown> extends Episode {
  /** The model's name. */
  model: string
  given: FileTask
  output: Output
  /** What the environment's own judge found: its parts are `answer`, `called` and `state`. Absent without an environment. */
  judgement?: Scored | Unscored
}

/** What a scorer gets besides the trial. */
export interface ScoringContext {
  signal: AbortSignal
  /** The names of the models of the evaluation. */
  models: readonly string[]
  /** The folder of the config. */
  folder: string
  /**
   * Asks the judge of the scorer. `read` parses the answer, and returns `null` if it is unreadable. The same question is asked once.
   *
   * @throws AgogeError `bad-config` if the scorer has no judge.
   */
  ask: <R>(question: string, read: (answer: string) => R | null) => Promise<R | Unscored>
}

/** What an evaluation knows of a scorer besides its function. */
export interface ScorerSettings {
  /** The least score that counts as done. Default: 1. */
  passAt?: number
  /** The model that it asks. Default: none. */
  judge?: JudgeSettings
}

/** The model that a scorer asks, and how. */
export interface JudgeSettings {
  model: ModelReference
  /** What decides its questions besides the trials. With the model and its settings it is what was compared with labels. */
  about: unknown
  /** Attempts to get a readable answer, including the first. Default: 2. */
  attempts?: number
  /** Default: that of the model. */
  temperature?: number
  /** Limit of the tokens of an answer. Default: that of the config. */
  maxOutputTokens?: number
}

/**
 * Scores a trial: 1 is done, less is not. `null`: it could not be judged, and the trial counts nowhere. A reward function of Agoge is
 * a scorer too.
 */
export type Scorer<Output = unknown> = ((
  trial: Trial<Output>,
  context: ScoringContext,
) => Score | Promise<Score>) &
  ScorerSettings

/**
 * Scores all trials of a task at once, of all models. It is asked when the last of them is finished, with those that are not masked,
 * and returns a score for each, in the same order. A `GroupReward` of Agoge is a group scorer too.
 */
export interface GroupScorer<Output = unknown> extends ScorerSettings {
  readonly name?: string
  scoreGroup: (
    trials: readonly Trial<Output>[],
    context: ScoringContext,
  ) => readonly Score[] | Promise<readonly Score[]>
}

/** A scorer of one trial, or of all trials of a task. */
export type AnyScorer<Output = unknown> = Scorer<Output> | GroupScorer<Output>

/** Dollars for a million tokens. */
export interface Price {
  input: number
  output: number
}

/** What may be spent by all calls together. A call whose most expensive outcome could exceed it is not sent. */
export interface BudgetLimits {
  dollars?: number
  /** Tokens of prompts and answers. */
  tokens?: number
}

/** A model object of the AI SDK of any version, as far as it is used here. */
export interface AnyLanguageModel {
  readonly specificationVersion: string
  readonly provider: string
  readonly modelId: string
  doGenerate: (options: never) => PromiseLike<unknown>
  doStream: (options: never) => PromiseLike<unknown>
}

/** Names a model: a text `PROVIDER/ID`, a model object of the AI SDK, or `run('FOLDER')`. */
export type ModelReference = string | AnyLanguageModel | LocalRun

/** A source of models by their id, such as `createOpenAI()` of `@ai-sdk/openai`. */
export type Provider =
  | ((modelId: string) => AnyLanguageModel)
  | { languageModel: (modelId: string) => AnyLanguageModel }

/** The contents of `agoge.config.ts`. */
export interface AgogeConfig<Output = unknown, Tools extends ToolRules = ToolRules> {
  agent: Agent<Output, Tools>
  /** A task file (JSONL), relative to the config; or the tasks; or a function that makes them. */
  tasks: string | readonly FileTask[] | (() => readonly FileTask[] | Promise<readonly FileTask[]>)
  /**
   * One scorer, several, or several by name. Those of a list have the names of their functions. A trial is a success if each of them
   * gives at least 1, or its `passAt`.
   */
  score: AnyScorer<Output> | readonly AnyScorer<Output>[] | Readonly<Record<string, AnyScorer<Output>>>
  /**
   * The models to evaluate: model objects of the AI SDK, `run('FOLDER')` for one that Agoge trained, or texts `PROVIDER/ID`. The
   * provider is one of `providers`; any other goes to the AI SDK's gateway.
   */
  models: readonly ModelReference[]
  providers?: Readonly<Record<string, Provider>>
  /** The server whose tools the agent gets, with a state of its own in each trial; see `mcp`. Default: none. */
  environment?: McpReference
  /** Further tools that the agent gets, and how each acts in trials. Default: none. */
  tools?: Tools
  /**
   * What is changed about the agent's calls: the file of `agoge optimise`, relative to the config, or its contents. Each model is evaluated
   * with it and without it. Default: nothing.
   */
  setup?: AgentSetup | string
  /** Says what is wrong with an answer of a model, for a setup that checks answers and asks again. Default: only calls that fit no tool are wrong. */
  verify?: Verify
  /** Settings of `agoge optimise`. */
  optimise?: OptimiseSettings
  /** Trials of each task with each model. Default: 1. */
  trials?: number
  /** Default: no limit. */
  budget?: BudgetLimits
  /** By model, as it is named in `models`. Needed for a budget in dollars. Models that run in this process cost nothing. */
  prices?: Readonly<Record<string, Price>>
  /** Limit of the tokens of an answer, where the agent sets none. Default: 4096. */
  maxOutputTokens?: number
  /** Trials at the same time. Default: 8. */
  concurrency?: number
  /** Further attempts of a call that failed for a passing reason. Default: 4. */
  retries?: number
  /** Pause before the first further attempt in seconds; it doubles each time. Default: 0.5. */
  backoffSeconds?: number
  /** Time limit of a call in seconds. Default: 120. */
  callSeconds?: number
  /** Time limit of a trial in seconds. Default: 600. */
  trialSeconds?: number
}

export const isGroupScorer = (scorer: AnyScorer): scorer is GroupScorer =>
  typeof scorer === 'object' && typeof scorer?.scoreGroup === 'function'

const isScorer = (value: unknown): value is AnyScorer =>
  typeof value === 'function' || isGroupScorer(value as AnyScorer)

/** The scorers of a config by name. */
export function scorersOf({ score }: Pick<AgogeConfig, 'score'>): Record<string, AnyScorer> {
  if (isScorer(score)) return { score }
  if (!Array.isArray(score)) return { ...(score as Readonly<Record<string, AnyScorer>>) }
  const named: Record<string, AnyScorer> = {}
  for (const [at, scorer] of (score as readonly AnyScorer[]).entries()) {
    const name = scorer.name === '' || scorer.name === undefined ? `score ${at + 1}` : scorer.name
    named[Object.hasOwn(named, name) ? `${name} ${at + 1}` : name] = scorer
  }
  return named
}

/** A model that Agoge trained; see `run`. */
export interface LocalRun {
  readonly kind: 'run'
  readonly folder: string
}

/**
 * Names a model of this machine for `models`: the folder of a run or of a checkpoint, or the name of a run in `.agoge/runs`.
 *
 * @example run('2026-11-22T19-34-23')
 */
export function run(folder: string): LocalRun {
  return { kind: 'run', folder }
}

/**
 * Returns its argument; gives the fields of `agoge.config.ts` their types.
 *
 * @example
 * export default defineConfig({
 *   agent: async (task, { model }) => (await generateText({ model, prompt: task.prompt })).text,
 *   tasks: './tasks.jsonl',
 *   score: answerMatches(),
 *   models: ['openai/gpt-5-mini'],
 * })
 */
export function defineConfig<Output, const Tools extends ToolRules = ToolRules>(
  config: AgogeConfig<Output, Tools>,
): AgogeConfig<Output, Tools> {
  return config
}

const limits = {
  trials: [1, 'a whole number of at least 1'],
  maxOutputTokens: [1, 'a whole number of at least 1'],
  concurrency: [1, 'a whole number of at least 1'],
  retries: [0, 'a whole number of at least 0'],
} as const

/**
 * Checks a config that comes from a file.
 *
 * @throws AgogeError `bad-config` naming the field, what was given and what is expected.
 */
export function checkConfig(value: unknown): AgogeConfig {
  const fail = (field: string, given: unknown, expected: string): never => {
    throw new AgogeError(`the config has a wrong "${field}"`, { code: 'bad-config', given, expected })
  }
  if (typeof value !== 'object' || value === null)
    return fail('default export', value, 'export default defineConfig({ agent, tasks, score, models })')
  const config = value as Partial<AgogeConfig>
  if (typeof config.agent !== 'function')
    fail('agent', config.agent, 'a function (task, { model, tools, signal }) => answer')
  const { tasks, score, models, budget = {}, prices = {} } = config
  if (typeof tasks !== 'string' && typeof tasks !== 'function' && !Array.isArray(tasks))
    fail('tasks', tasks, "'./tasks.jsonl', an array of tasks, or a function that makes them")
  const scorers = isScorer(score) ? [score] : Object.values<unknown>(score ?? {})
  if (scorers.length === 0 || !scorers.every(isScorer))
    fail('score', score, 'a scorer such as answerMatches(), or several by name: { answer: answerMatches() }')
  if (!Array.isArray(models) || models.length === 0)
    fail('models', models, "at least one model, such as 'openai/gpt-5-mini' or run('FOLDER')")
  const { environment, tools = {} } = config
  if (environment !== undefined && environment?.kind !== 'mcp')
    fail('environment', environment, "mcp('NAME'), with NAME from .mcp.json")
  for (const [name, rule] of Object.entries(tools))
    if (!['run', 'replay', 'stub'].includes(rule?.mode) || typeof rule.tool !== 'object')
      fail(`tools.${name}`, rule, "{ tool, mode: 'run' | 'replay' | 'stub' }")
  for (const [field, [least, expected]] of Object.entries(limits)) {
    const given = config[field as keyof typeof limits]
    if (given !== undefined && !(Number.isInteger(given) && given >= least)) fail(field, given, expected)
  }
  const isAbove = (number: unknown, least: number): boolean =>
    typeof number === 'number' && Number.isFinite(number) && number > least
  for (const field of ['callSeconds', 'trialSeconds', 'backoffSeconds'] as const)
    if (config[field] !== undefined && !isAbove(config[field], 0))
      fail(field, config[field], 'seconds above 0')
  for (const [name, limit] of Object.entries(budget))
    if (!isAbove(limit, 0)) fail(`budget.${name}`, limit, 'a number above 0')
  for (const [name, price] of Object.entries(prices))
    if (![price?.input, price?.output].every((one) => isAbove(one, -Number.MIN_VALUE)))
      fail(`prices["${name}"]`, price, '{ input, output } in dollars for a million tokens')
  return value as AgogeConfig
}
