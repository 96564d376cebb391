import { createHash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { redactData } from '../../untrusted/untrusted.ts'
import type { ConversationMessage } from '../agent/chat-format/types.ts'
import type { Episode, EpisodeNode, EpisodeReward, EpisodeSample } from '../episode/types.ts'
import { ownTurn } from '../serving/turns.ts'
import { type Redactor, redactorOf } from '../tool/redact.ts'
import type { ToolSpec } from '../tool/tool.ts'

/** The messages and tools of a call. */
export interface Conversation {
  messages: readonly ConversationMessage[]
  tools: readonly ToolSpec[]
}

/** The calls of one model in a session, as a tree. */
export type Recording = Pick<Episode, 'nodes' | 'samples' | 'usage'>

/** What is known when a session ends, and decides its episode. */
export interface SessionEnd {
  /** The id of the task that the agent did. Default: what its calls said, else the name of the session. */
  task?: string
  /** What the agent returned. Default: the last text of the model. */
  output?: unknown
}

/** A run of an agent: all its calls become one episode. */
export interface Session {
  readonly name: string
  /** The recording of a model; it is opened at the first call of that model. */
  recordingOf: <T extends { record: Recording }>(model: string, open: () => T) => T
  /** The messages of a call, with the reasoning that its client left out of earlier answers. */
  restored: (conversation: Conversation) => ConversationMessage[]
  /** Marks the beginning of a call; its end has to be reported by the result. */
  begin: (conversation: Conversation) => CallEnds
  /** A call that cannot be recorded masks the episode. */
  spoil: (why: string) => void
  reward: (reward: Pick<EpisodeReward, 'name' | 'value' | 'reason'>) => void
  /** What must not be stored. */
  hide: (secret: string) => void
}

export interface CallEnds {
  /** `messages`: one for each choice. */
  answered: (messages: readonly ConversationMessage[]) => void
  /** A fault of the model or of its service. The same call may be answered later. */
  failed: (error: unknown) => void
  /** The conversation is too long for the model. */
  overflowed: () => void
  /** The client left: neither an answer nor a fault. */
  left: () => void
}

export interface SessionPlace {
  /** Default: the session whose conversation the call continues, else a new one. */
  name?: string | undefined
  task?: string | undefined
  /** Conversations without a name of different clients never meet. */
  owner: string
}

export interface Sessions {
  /** The session of a call. */
  of: (place: SessionPlace, conversation: Conversation) => Session
  list: () => { name: string; calls: number; seconds: number }[]
  find: (name: string) => Session | undefined
  /** Ends a session. Its name may be used again. */
  end: (name: string, end?: SessionEnd) => Promise<Episode | undefined>
  /** Ends all, and stops the clock of idle ones. */
  close: () => Promise<void>
}

export interface SessionOptions {
  /** A session without calls for so many seconds ends. Default: 600. */
  idleSeconds?: number
  /** More open sessions end the oldest. Default: 10,000. */
  most?: number
  /** Never stored. */
  secrets: readonly string[]
  /** Scores and stores an episode. */
  onEnd: (episode: Episode, end: SessionEnd) => Promise<Episode>
}

interface OpenSession extends Session {
  id: string
  task: string | undefined
  lastUsed: number
  underWay: number
  calls: number
  indexed: string[]
  episode: (end: SessionEnd) => Episode
  started: number
}

/** How long a session that was ended waits for its calls under way. */
const settleMilliseconds = 5000

/** Keeps the sessions of a gateway. */
export function createSessions(options: SessionOptions): Sessions {
  const { idleSeconds = 600, most = 10_000, onEnd } = options
  const open = new Map<string, OpenSession>()
  /** Sessions by the state of their conversations after an answer, and by their calls that failed. */
  const index = new Map<string, OpenSession>()
  /** Sessions so far: a name may be used again. */
  let total = 0
  let conversations = 0

  async function end(name: string, how: SessionEnd = {}): Promise<Episode | undefined> {
    const session = open.get(name)
    if (session === undefined) return undefined
    open.delete(name)
    for (const key of session.indexed) if (index.get(key) === session) index.delete(key)
    // A client may end a session before the answer that it has read is recorded.
    for (let waited = 0; session.underWay > 0 && waited < settleMilliseconds; waited += 5) await sleep(5)
    return onEnd(session.episode(how), how)
  }
  let isEnding = false
  const endIdle = async (): Promise<void> => {
    if (isEnding) return
    isEnding = true
    const isIdle = ({ underWay, lastUsed }: OpenSession): boolean =>
      underWay === 0 && performance.now() - lastUsed > idleSeconds * 1000
    for (const session of open.values())
      if (isIdle(session)) {
        // Many that end together would hold up the calls of others.
        await ownTurn()
        // What goes wrong is reported where it happens.
        if (isIdle(session)) await end(session.name).catch(() => {})
      }
    isEnding = false
  }
  const clock = setInterval(() => void endIdle(), Math.min(1000, idleSeconds * 250))
  clock.unref()

  function start(given: string | undefined, owner: string): OpenSession {
    const name = given ?? `conversation-${++conversations}`
    const session: OpenSession = createSession(name, `${name}/${total++}`, owner, options.secrets, (key) => {
      if (given !== undefined || open.get(name) !== session) return
      index.set(key, session)
      session.indexed.push(key)
    })
    open.set(name, session)
    if (open.size > most) {
      const [oldest] = open.values()
      end(oldest.name).catch(() => {})
    }
    return session
  }

  return {
    of({ name, task, owner }, conversation) {
      const hashes = prefixHashes(owner, conversation)
      const found = name === undefined ? findContinued(index, hashes) : open.get(name)
      const session = found ?? start(name, owner)
      session.task ??= task
      session.lastUsed = performance.now()
      return session
    },
    list: () =>
      [...open.values()].map(({ name, calls, started }) => ({
        name,
        calls,
        seconds: (performance.now() - started) / 1000,
      })),
    find: (name) => open.get(name),
    end,
    async close() {
      clearInterval(clock)
      const ended = await Promise.allSettled([...open.keys()].map((name) => end(name)))
      for (const one of ended) if (one.status === 'rejected') throw one.reason
    },
  }
}

/** A call continues the longest conversation whose last answer it contains, or repeats one that failed. */
function findContinued(
  index: ReadonlyMap<string, OpenSession>,
  hashes: readonly string[],
): OpenSession | undefined {
  const last = hashes.at(-1) ?? ''
  const failed = index.get(`failed ${last}`)
  if (failed !== undefined) return failed
  for (let i = hashes.length - 2; i >= 1; i--) {
    const found = index.get(`answered ${hashes[i]}`)
    if (found !== undefined) return found
  }
  return undefined
}

/** Each call asks several times. */
const known = new WeakMap<Conversation, { owner: string; hashes: string[] }>()

/** A hash of the tools and the first n messages, for each n. Reasoning does not count: many clients do not send it back. */
function prefixHashes(owner: string, conversation: Conversation): string[] {
  const found = known.get(conversation)
  if (found?.owner === owner) return found.hashes
  let hash = hashOf(JSON.stringify([owner, conversation.tools]))
  const hashes = [hash]
  for (const message of conversation.messages) hashes.push((hash = hashAfter(hash, message)))
  known.set(conversation, { owner, hashes })
  return hashes
}

const hashAfter = (before: string, { role, text, calls = [], callId }: ConversationMessage): string =>
  hashOf(before + JSON.stringify([role, text, calls, callId]))

const hashOf = (text: string): string => createHash('sha256').update(text).digest('base64')

function createSession(
  name: string,
  id: string,
  owner: string,
  secrets: readonly string[],
  addToIndex: (key: string) => void,
): OpenSession {
  const recordings = new Map<string, { record: Recording }>()
  const rewards: EpisodeReward[] = []
  const hidden = new Set<string>(secrets)
  /** Calls that failed and were not answered since. */
  const faults = new Map<string, string>()
  const spoiled: string[] = []
  const reasoning = new Map<string, string>()
  let isOverflowing = false
  const started = performance.now()
  const hashes = (conversation: Conversation): string[] => prefixHashes(owner, conversation)

  function remember(before: string, message: ConversationMessage): void {
    const after = hashAfter(before, message)
    if (message.reasoning !== undefined) reasoning.set(after, message.reasoning)
    addToIndex(`answered ${after}`)
  }

  function begin(conversation: Conversation): CallEnds {
    const before = hashes(conversation).at(-1) ?? ''
    session.underWay += 1
    let isOver = false
    const over = (work: () => void): void => {
      if (isOver) return
      isOver = true
      session.underWay -= 1
      session.lastUsed = performance.now()
      work()
    }
    return {
      answered: (messages) =>
        over(() => {
          session.calls += 1
          isOverflowing = false
          faults.delete(before)
          for (const message of messages) remember(before, message)
        }),
      failed: (error) =>
        over(() => {
          faults.set(before, error instanceof Error ? error.message : String(error))
          addToIndex(`failed ${before}`)
        }),
      overflowed: () => over(() => void (isOverflowing = true)),
      left: () => over(() => {}),
    }
  }

  const session: OpenSession = {
    name,
    id,
    task: undefined,
    started,
    lastUsed: started,
    underWay: 0,
    calls: 0,
    indexed: [],
    begin,
    recordingOf<T extends { record: Recording }>(model: string, open: () => T): T {
      const known = recordings.get(model) as T | undefined
      if (known !== undefined) return known
      const opened = open()
      recordings.set(model, opened)
      return opened
    },
    restored(conversation) {
      const states = hashes(conversation)
      return conversation.messages.map((message, at) => {
        const thought = reasoning.get(states[at + 1])
        return message.role === 'assistant' && message.reasoning === undefined && thought !== undefined
          ? { ...message, reasoning: thought }
          : message
      })
    },
    spoil: (why) => void spoiled.push(why),
    reward: (reward) => void rewards.push({ agent: 'agent', ...reward }),
    hide: (secret) => void hidden.add(secret),
    episode({ task = session.task ?? name }) {
      const fault = spoiled[0] ?? faults.values().next().value
      const isFailed = fault === undefined && isOverflowing
      const unjudged = rewards.find(({ value }) => value === null)
      const error = fault ?? (unjudged && (unjudged.reason ?? 'it could not be judged'))
      const status = error !== undefined ? 'masked' : isFailed ? 'failed' : 'ok'
      const values = rewards.map(({ value }) => value)
      return withoutSecrets([...hidden], {
        schema: 1,
        id,
        group: task,
        environment: 'gateway',
        task,
        kind: 'own',
        seed: 0,
        context: {},
        status,
        ending: fault !== undefined ? 'infrastructure' : isFailed ? 'token-limit' : 'answered',
        ...joined([...recordings.values()].map(({ record }) => record)),
        rewards,
        success: successOf(status, values),
        timing: { seconds: (performance.now() - started) / 1000, toolSeconds: 0 },
        ...(error !== undefined && { error }),
      })
    },
  }
  return session
}

/** As in an evaluation: each reward must be at least 1. Without rewards nobody knows. */
function successOf(status: Episode['status'], values: readonly (number | null)[]): boolean | null {
  if (status === 'failed') return false
  if (status === 'masked' || values.length === 0) return null
  return values.every((value) => value !== null && value >= 1)
}

/** The trees of several models in one episode. */
function joined(records: readonly Recording[]): Recording {
  const nodes: EpisodeNode[] = []
  const samples: EpisodeSample[] = []
  const usage = { promptTokens: 0, sampledTokens: 0, calls: 0, invalidCalls: 0 }
  for (const record of records) {
    const from = nodes.length
    for (const node of record.nodes)
      nodes.push({ ...node, id: node.id + from, parent: node.parent === null ? null : node.parent + from })
    for (const sample of record.samples)
      samples.push({ ...sample, path: sample.path.map((id) => id + from), output: sample.output + from })
    for (const field of ['promptTokens', 'sampledTokens', 'calls', 'invalidCalls'] as const)
      usage[field] += record.usage[field]
  }
  return { nodes, samples, usage }
}

const redactors = new Map<string, Redactor>()

/** Most sessions have the same secrets, and finding all their spellings takes a while. */
function redactorFor(secrets: readonly string[]): Redactor {
  const key = hashOf(JSON.stringify(secrets))
  const made = redactors.get(key) ?? redactorOf(secrets)
  redactors.set(key, made)
  const [oldest] = redactors.keys()
  if (redactors.size > mostRedactors) redactors.delete(oldest)
  return made
}

const mostRedactors = 64

/** Tokens show what their text says: where a text had to be redacted, the episode keeps none. */
function withoutSecrets(secrets: readonly string[], episode: Episode): Episode {
  const particular = secrets.filter(({ length }) => length >= 8)
  if (particular.length === 0) return episode
  const redactor = redactorFor(particular)
  const redacted = redactData(episode, (text) => redactor.text(text))
  const isSame = redacted.nodes.every(
    ({ text, calls }, i) =>
      text === episode.nodes[i].text && JSON.stringify(calls) === JSON.stringify(episode.nodes[i].calls),
  )
  if (isSame) return redacted
  const none = { logprobs: new Float32Array(0), mask: new Uint8Array(0), trainable: false }
  return {
    ...redacted,
    nodes: redacted.nodes.map((node) => ({ ...node, tokens: new Int32Array(0) })),
    samples: redacted.samples.map((sample) => ({ ...sample, ...none })),
  }
}
