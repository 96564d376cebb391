import { defined } from '../../../defined.ts'
import { checkWindow, languageModelFrom, readAnswer } from '../../agent/ai-sdk/language-model.ts'
import { endingOfMistake } from '../../agent/model-mistakes.ts'
import type { ChatFormat, ConversationMessage } from '../../agent/chat-format/types.ts'
import type { LanguageModel, ModelCall } from '../../agent/ai-sdk/read-call.ts'
import type { ModelAnswer } from '../../agent/ai-sdk/language-model.ts'
import { AgogeError } from '../../../error.ts'
import { rewardsOfScore, readScore } from '../../episode/score.ts'
import type { Score } from '../../episode/score.ts'
import type { Episode, EpisodeReward } from '../../episode/types.ts'
import type { ModelBackend } from '../../model-backend.ts'
import type { Tokenizer } from '../../tokenizer/tokenizer.ts'
import { scoreGroups } from '../../reward/reward.ts'
import type { Reward } from '../../reward/reward.ts'
import { createLockstep } from './lockstep.ts'
import type { Lockstep } from './lockstep.ts'
import { createRecorder, recordSaid } from './recorder.ts'
import type { PlacedCall, Recorder } from './recorder.ts'

/** One task for an agent. */
export interface AgentTask {
  id: string
  /** The kind of task. Default: `agent`. */
  kind?: string
  seed?: number
}

/** What an agent's program receives besides its task. */
export interface AgentContext {
  /** The model being trained, for `generateText` and `streamText`. */
  model: LanguageModel
  /** Aborts when the rollout is aborted or the episode's time is over. */
  signal: AbortSignal
  /** The id of the episode. */
  episode: string
  /**
   * Rewards the last output of the model, for advantages per turn. @throws AgogeError if there is no output yet, or `value` is
   * not finite.
   */
  reward: (value: number) => void
}

/** The user's agent, unchanged, and the judge of its results. */
export interface AgentProgram<T extends AgentTask, R> {
  name: string
  /**
   * Does the task, with any calls of the model, tools and control flow. An error it throws masks the episode, since it is not
   * the model's fault.
   */
  run: (task: T, context: AgentContext) => Promise<R>
  /**
   * 1 if the task is done, less if not. `null` if that cannot be judged, which masks the episode. `episode` has the messages and calls.
   */
  judge: (task: T, result: R, episode: PlayedEpisode) => Score | Promise<Score>
}

/** An episode whose program has ended, before its result is judged. */
export type PlayedEpisode = Omit<Episode, 'status' | 'ending' | 'success' | 'rewards' | 'error'>

export interface AgentModel {
  backend: Pick<ModelBackend, 'sample'>
  tokenizer: Tokenizer
  format: ChatFormat
  /** Context window of the model in tokens. */
  window: number
}

export interface AgentRolloutOptions<T extends AgentTask, R> extends AgentModel {
  program: AgentProgram<T, R>
  tasks: readonly T[]
  /** Episodes per task. Default: 1. */
  groupSize?: number
  /** Keys the random streams, with task and member. It must differ between steps and stay the same when a step is repeated. */
  name: string
  seed: number
  /** Default: 1. Overrides what the program asks for, as do top-p and top-k: the trainer decides how to explore. */
  temperature?: number
  /** Limit of one answer, if the program sets none. Default: the rest of the context window. */
  maxTokens?: number
  /** Time limit of an episode in seconds. Default: 600. */
  deadlineSeconds?: number
  /** Scores the episodes and stores the scores in their `rewards`; see `scoreGroups`. Default: no scores. */
  reward?: Reward
  /** Seconds that a batch waits for programs busy with something other than the model; see `createLockstep`. Default: 10. */
  patienceSeconds?: number
  signal?: AbortSignal
}

/**
 * Runs the user's program (for instance an agent written with the AI SDK) once per episode, all concurrently. The program's
 * model object records its calls: exact tokens, shared prefixes, branches. All calls in flight are sampled as one batch, so the
 * same seed gives the same episodes if the program is deterministic.
 *
 * @returns the episodes of each task, in the order of `tasks`, ready for rewards and algorithms.
 * @throws AgogeError only for mistakes that would fail every episode.
 * @example
 * const program: AgentProgram<AgentTask, string> = {
 *   name: 'greeter',
 *   run: async (task, { model }) => (await generateText({ model, prompt: `Greet ${task.id}.` })).text,
 *   judge: (task, text) => (text.includes(task.id) ? 1 : 0),
 * }
 * const { folder, backend, tokenizer } = await loadModel()
 * const format = await readChatFormat(folder, tokenizer)
 * const window = backend.config.max_position_embeddings
 * const groups = await rolloutAgent({
 *   backend, tokenizer, format, window, program, tasks: [{ id: 'Ada' }], groupSize: 8, name: 'step-0', seed: 0,
 * })
 */
export async function rolloutAgent<T extends AgentTask, R>(
  options: AgentRolloutOptions<T, R>,
): Promise<Episode[][]> {
  const { backend, tasks, groupSize = 1, name, patienceSeconds = 10 } = options
  const specs = tasks.flatMap((task, at) =>
    Array.from({ length: groupSize }, (_, member) => ({
      task,
      group: `${name}/${at}:${task.id}`,
      id: `${name}/${at}:${task.id}/${member}`,
    })),
  )
  const lockstep = createLockstep({ backend, members: specs.length, patienceSeconds })
  const answer = samplingAnswer(options, lockstep)
  const episodes = await Promise.all(
    specs.map(async (spec, member) => {
      try {
        return await runEpisode(options, spec, answer(member, spec.id))
      } finally {
        lockstep.left(member)
      }
    }),
  )
  options.signal?.throwIfAborted()
  const groups = tasks.map((_, at) => episodes.slice(at * groupSize, (at + 1) * groupSize))
  if (options.reward !== undefined) {
    const { reward, signal } = options
    await scoreGroups(reward, groups, signal === undefined ? {} : { signal })
  }
  return groups
}

/** Gives the reply that the agent's model should make, for demonstrations. `messages` are those of the call. */
export type Teacher<T extends AgentTask> = (
  task: T,
  messages: readonly ConversationMessage[],
) =>
  | { text: string }
  | { call: TeacherCall; text?: string }
  | { calls: readonly TeacherCall[]; text?: string }

interface TeacherCall {
  name: string
  arguments: Record<string, unknown>
}

/**
 * Like `rolloutAgent`, with a teacher in place of the model.
 *
 * @returns one episode per task for SFT, in the order of `tasks` and in the tokens of the model.
 * @throws the reason of `signal`, once it is aborted.
 * @example
 * const demonstrations = await demonstrateAgent({
 *   tokenizer, format, window, program, tasks: [{ id: 'Ada' }], name: 'demonstrations',
 *   teacher: (task) => ({ text: `Hello, ${task.id}!` }),
 * })
 */
export async function demonstrateAgent<T extends AgentTask, R>(
  options: Omit<
    AgentRolloutOptions<T, R>,
    'backend' | 'seed' | 'temperature' | 'patienceSeconds' | 'reward'
  > & {
    teacher: Teacher<T>
  },
): Promise<Episode[]> {
  const { tasks, teacher, name, format } = options
  const episodes = await Promise.all(
    tasks.map((task, at) => {
      const id = `${name}/${at}:${task.id}`
      let turn = 0
      return runEpisode(options, { task, group: id, id }, (recorder) => (call, placed) => {
        const move = teacher(task, call.messages)
        const made = 'call' in move ? [move.call] : 'calls' in move ? move.calls : []
        const calls = made.map((one, i) => ({ id: `${turn}.${i}`, ...one }))
        if (calls.length > 0) turn += 1
        const text = move.text ?? ''
        const message: ConversationMessage = {
          role: 'assistant',
          text,
          ...(calls.length === 0 ? {} : { calls }),
        }
        const tokens = format.write(placed.window, [...call.messages, message], call.tools)
        const output = {
          tokens,
          logprobs: new Float32Array(tokens.length),
          finish: 'stop' as const,
          weightVersion: 0,
        }
        const sampling = { temperature: 0 }
        recorder.answered(placed, {
          message,
          invalid: undefined,
          ...output,
          output: tokens,
          sampling,
          trainable: true,
        })
        return Promise.resolve({ prompt: placed.prompt, output, said: { text, calls } })
      })
    }),
  )
  options.signal?.throwIfAborted()
  return episodes
}

type Answer = (
  call: ModelCall,
  placed: PlacedCall,
  onToken?: (row: number, token: number, logprob: number) => void,
) => Promise<ModelAnswer>

function samplingAnswer<T extends AgentTask, R>(
  options: AgentRolloutOptions<T, R>,
  lockstep: Lockstep,
): (member: number, episode: string) => (recorder: Recorder, signal: AbortSignal) => Answer {
  const { format, tokenizer, window, seed, temperature = 1 } = options
  return (member, episode) => (recorder, signal) => {
    let turns = 0
    return async (call, placed, onToken) => {
      const { settings, grammar } = call
      const turn = turns++
      const { maxTokens = options.maxTokens ?? window } = settings
      const output = await lockstep.sample(
        member,
        turn,
        {
          prompt: placed.prompt,
          key: `${episode}:${turn}`,
          seed,
          temperature,
          maxTokens: Math.min(maxTokens, window - placed.prompt.length),
          stop: format.stop,
          ...(settings.stop.length === 0 ? {} : { stopSequences: settings.stop }),
          ...defined({ grammar }),
        },
        {
          signal: call.signal === undefined ? signal : AbortSignal.any([signal, call.signal]),
          ...(onToken === undefined ? {} : { onToken: (token, logprob) => onToken(0, token, logprob) }),
        },
      )
      const raw = (tokens: Int32Array): string => tokenizer.decode(tokens)
      const said = readAnswer(output.tokens, format, call, raw, (i) => `${turn}.${i}`)
      recordSaid(recorder, placed, { output, said }, { sampling: { temperature }, trainable: true })
      return { prompt: placed.prompt, output, said }
    }
  }
}

/** Runs the program once. Faults that are not the model's mask the episode; a full context window is the model's fault. */
async function runEpisode<T extends AgentTask, R>(
  options: Pick<AgentRolloutOptions<T, R>, 'program' | 'format' | 'window' | 'deadlineSeconds' | 'signal'>,
  spec: { task: T; group: string; id: string },
  answerWith: (recorder: Recorder, signal: AbortSignal) => Answer,
): Promise<Episode> {
  const { program, format, window, deadlineSeconds = 600 } = options
  const { task } = spec
  const started = performance.now()
  const deadline = new AbortController()
  const timer = setTimeout(
    () => deadline.abort(new Error(`the episode took longer than ${deadlineSeconds} s`)),
    deadlineSeconds * 1000,
  )
  const signal =
    options.signal === undefined ? deadline.signal : AbortSignal.any([options.signal, deadline.signal])
  const recorder = createRecorder(format)
  const rewarded: EpisodeReward[] = []
  const reward = (value: number): void => {
    const sample = recorder.record.samples.length - 1
    if (sample < 0 || !Number.isFinite(value)) throw badReward(spec.id, value)
    rewarded.push({ agent: 'agent', sample, name: 'step', value })
  }
  const answer = answerWith(recorder, signal)
  const model = languageModelFrom(program.name, format, async (call, onToken) => {
    const placed = recorder.place(call.messages, call.tools)
    checkWindow(placed.prompt, window)
    return answer(call, placed, onToken)
  })

  const played = (): PlayedEpisode => ({
    schema: 1,
    id: spec.id,
    group: spec.group,
    environment: program.name,
    task: task.id,
    kind: task.kind ?? 'agent',
    seed: task.seed ?? 0,
    context: {},
    ...recorder.record,
    timing: { seconds: (performance.now() - started) / 1000, toolSeconds: 0 },
  })
  const end = async (): Promise<Pick<Episode, 'status' | 'ending' | 'success' | 'rewards' | 'error'>> => {
    try {
      const result = await untilAborted(
        program.run(task, { model, signal, episode: spec.id, reward }),
        signal,
      )
      const score = readScore(await program.judge(task, result, played()), `episode ${spec.id}`)
      if (score.value === null)
        return masked('infrastructure', score.reason ?? 'the outcome could not be judged')
      const rewards = [...rewarded, ...rewardsOfScore(score, 'agent')]
      return { status: 'ok', ending: 'answered', success: score.value >= 1, rewards }
    } catch (error) {
      if (options.signal?.aborted === true) return masked('aborted', 'the run was aborted')
      if (deadline.signal.aborted) return masked('deadline', deadline.signal.reason)
      if (isOverflow(error))
        return { status: 'failed', ending: 'token-limit', success: false, rewards: rewarded }
      if (AgogeError.isInstance(error)) throw error
      const ending = endingOfMistake(error)
      if (ending !== undefined) return { status: 'failed', ending, success: false, rewards: rewarded }
      return masked('infrastructure', error)
    } finally {
      clearTimeout(timer)
    }
  }
  return { ...(await end()), ...played() }
}

function badReward(episode: string, given: number): AgogeError {
  return new AgogeError(`The reward of a step of episode ${episode} is not a finite number`, {
    code: 'bad-reward',
    given,
    expected: 'a finite number, after the model has said something',
  })
}

/** Whether the window of the model was full, also if the program threw its own error because of that. */
export function isOverflow(error: unknown): boolean {
  if (AgogeError.isInstance(error) && error.code === 'sequence-too-long') return true
  return error instanceof Error && error.cause !== undefined && isOverflow(error.cause)
}

function masked(
  ending: Episode['ending'],
  cause: unknown,
): Pick<Episode, 'status' | 'ending' | 'success' | 'rewards' | 'error'> {
  const error = cause instanceof Error ? cause.message : String(cause)
  return { status: 'masked', ending, success: null, rewards: [], error }
}

/** Ignores what a program does later if it does not heed the signal. */
export function untilAborted<R>(work: Promise<R>, signal: AbortSignal): Promise<R> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) reject(signal.reason as Error)
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    work.then(resolve, reject)
  })
}
