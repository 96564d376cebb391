import { defined } from '../../defined.ts'
import type {
  Ending,
  Episode,
  EpisodeNode,
  EpisodeReward,
  EpisodeSample,
  EpisodeStatus,
} from '../episode/types.ts'
import { AgogeError } from '../../error.ts'
import { rewardsOfScore, readScore } from '../episode/score.ts'
import type { Score } from '../episode/score.ts'
import type { ToolResult } from '../tool/tool.ts'
import type { WaitClock } from './turn-loop.ts'
import type { Act, Actor, Task, ToolSession, ToolEnvironment } from './types.ts'

/** An episode to run. Episodes of one task that are compared with each other share `group`. */
export interface EpisodeSpec {
  id: string
  group: string
  task: Task
}

export interface EpisodeLimits {
  /** Maximum outputs of the policy, including the answer. */
  turns: number
  /** Maximum tokens per output. With `totalTokens`, also the space that must be left before the policy acts. */
  tokensPerTurn?: number
  /** Maximum tokens of the context window. For a remote model, its own count of the prompt. */
  totalTokens?: number
  /**
   * Wall-clock limit of an episode, without its wave's waits for servers. Exceeding it masks the episode, since it depends on
   * the load of the machine.
   */
  deadlineSeconds: number
  /** Time limit of one call, which masks the episode. Waiting for a server or its state does not count. */
  toolDeadlineSeconds: number
}

const agent = 'agent'

/** A running episode: its record and its session. */
export interface EpisodeState {
  readonly spec: EpisodeSpec
  readonly limits: EpisodeLimits
  /** The clock of the episode's wave. */
  readonly waits: WaitClock
  readonly nodes: EpisodeNode[]
  readonly usage: Episode['usage']
  session: ToolSession | undefined
  ending: Ending | undefined
  answer: string | null
  /** Adds time spent in tools, in seconds. */
  toolSeconds: number
  /** Ends the episode, attributed to the policy. Only the first end counts. */
  end(ending: Ending): void
  /** Ends and masks the episode with a reason, for faults that are not the policy's. */
  mask(ending: Ending, error: unknown): void
  isMasked(): boolean
  /** Checks the limits before the policy acts. */
  checkLimits(turn: number, signal: AbortSignal | undefined): void
  addAct(act: Act): EpisodeNode
  /** `reward` is the environment's reward for the turn of the call. @throws AgogeError if it is not finite. */
  addToolResult(callId: string, result: Pick<ToolResult, 'text' | 'isError' | 'reward'>): void
  /** @throws AgogeError `bad-reward` if it is not a score. */
  addScore(given: Score): void
  close(): Promise<void>
  toEpisode(): Episode
}

export function createEpisodeState(
  spec: EpisodeSpec,
  actor: Actor,
  environment: ToolEnvironment,
  limits: EpisodeLimits,
  waits: WaitClock,
): EpisodeState {
  const { task } = spec
  const started = performance.now()
  let seconds: number | undefined
  let windowTokens = 0
  /** The first node in the policy's prompt. Above 0 after a template has rendered earlier messages differently. */
  let windowStart = 0
  let status: EpisodeStatus | undefined
  let error: string | undefined
  let success: boolean | null = null
  const rewards: EpisodeReward[] = []
  const samples: EpisodeSample[] = []
  const nodes: EpisodeNode[] = []

  function add(node: Omit<EpisodeNode, 'id' | 'parent' | 'agent'>): EpisodeNode {
    const id = nodes.length
    const added: EpisodeNode = { id, parent: id === 0 ? null : id - 1, agent, ...node }
    nodes.push(added)
    windowTokens += node.tokens.length
    return added
  }

  function addText(role: 'system' | 'user', text: string): void {
    add({ role, text, tokens: actor.encode({ role, text }) })
  }

  const state: EpisodeState = {
    spec,
    limits,
    waits,
    nodes,
    usage: { promptTokens: 0, sampledTokens: 0, calls: 0, invalidCalls: 0 },
    session: undefined,
    ending: undefined,
    answer: null,
    toolSeconds: 0,
    end(ending) {
      if (state.ending !== undefined) return
      state.ending = ending
      status = ending === 'answered' ? 'ok' : 'failed'
    },
    mask(ending, cause) {
      state.ending ??= ending
      status = 'masked'
      error ??= cause instanceof Error ? cause.message : String(cause)
    },
    isMasked: () => status === 'masked',
    checkLimits(turn, signal) {
      if (state.ending !== undefined) return
      if (signal?.aborted) state.mask('aborted', 'the run was aborted')
      else if (performance.now() - started - waits.milliseconds() > limits.deadlineSeconds * 1000) {
        state.mask('deadline', `the episode took longer than ${limits.deadlineSeconds} s`)
      } else if (turn >= limits.turns) state.end('turn-limit')
      else if (
        limits.totalTokens !== undefined &&
        windowTokens + (limits.tokensPerTurn ?? 1) > limits.totalTokens
      ) {
        state.end('token-limit')
      }
    },
    addAct(act) {
      if (act.rewritten === true) windowStart = nodes.length
      const path = nodes.slice(windowStart).map((node) => node.id)
      const node = add({
        role: 'assistant',
        tokens: act.tokens,
        text: act.text,
        ...(act.calls.length === 0 ? {} : { calls: act.calls }),
        ...defined({ invalid: act.invalid }),
      })
      const sampled = act.sampledTokens ?? act.mask.reduce((sum, bit) => sum + bit, 0)
      // Only the remote model counts its window.
      if (act.tokens.length === 0 || act.rewritten === true) windowTokens = act.promptTokens + sampled
      samples.push({
        path,
        output: node.id,
        logprobs: act.logprobs,
        mask: act.mask,
        weightVersion: act.weightVersion,
        sampling: actor.sampling,
        trainable: act.tokens.length > 0,
      })
      state.usage.promptTokens += act.promptTokens
      state.usage.sampledTokens += sampled
      return node
    },
    addToolResult(callId, { text, isError, reward }) {
      if (reward !== undefined) {
        if (!Number.isFinite(reward)) throw badReward(spec.id, callId, reward)
        rewards.push({ agent, sample: samples.length - 1, name: 'step', value: reward })
      }
      add({ role: 'tool', text, tokens: actor.encode({ role: 'tool', text, callId }), callId, isError })
    },
    addScore(given) {
      const score = readScore(given, `episode ${spec.id}`)
      success = score.value === null ? null : score.value >= 1
      rewards.push(...rewardsOfScore(score, agent))
      if (score.value === null)
        state.mask('infrastructure', score.reason ?? 'the outcome could not be judged')
    },
    async close() {
      const session = state.session
      state.session = undefined
      try {
        await session?.close()
      } catch (cause) {
        // The episode is judged; an error while closing its session changes nothing.
        error ??= cause instanceof Error ? cause.message : String(cause)
      }
      seconds ??= (performance.now() - started) / 1000
    },
    toEpisode() {
      const masked = status === 'masked' || status === undefined
      return {
        schema: 1,
        id: spec.id,
        group: spec.group,
        environment: environment.name,
        task: task.id,
        kind: task.kind,
        seed: task.seed,
        context: task.context,
        status: status ?? 'masked',
        ending: state.ending ?? 'aborted',
        nodes,
        samples,
        rewards: masked ? [] : rewards,
        success: masked ? null : success,
        usage: state.usage,
        timing: { seconds: seconds ?? (performance.now() - started) / 1000, toolSeconds: state.toolSeconds },
        ...defined({ error }),
      }
    },
  }
  if (environment.system !== undefined && environment.system !== '') addText('system', environment.system)
  addText('user', task.prompt)
  return state
}

function badReward(episode: string, call: string, given: number): AgogeError {
  return new AgogeError(
    `The environment's reward for call ${call} of episode ${episode} is not a finite number`,
    {
      code: 'bad-reward',
      given,
      expected: 'a finite number, or no `reward` if the environment does not reward steps',
    },
  )
}
