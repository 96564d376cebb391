import { defined } from '../../defined.ts'
import { sha256 } from '../../runs/checksums.ts'
import type { ConversationMessage } from '../agent/chat-format/types.ts'
import type { Ending, Episode, EpisodeReward, EpisodeStatus } from '../episode/types.ts'
import { problemOfCall, type RecordedTexts, recordTexts } from '../gateway/record-calls.ts'
import type { OtlpSpan } from './otlp.ts'
import { readWork, type TracedAgent, type TracedCall, type TracedTool, type TracedWork } from './spans.ts'

/** A trace as an episode, or why it is none; and what of it was left out. */
export interface TraceEpisode {
  episode?: Episode
  /** Reasons. Empty for a trace without any call of a model, which is none of an agent. */
  problems: string[]
}

/** The id of the task with this prompt, which episodes and the tasks that are made of them share. */
export function importedTaskId(prompt: string): string {
  return `imported/${sha256(prompt).slice(0, 16)}`
}

/**
 * The calls of the spans of one trace as an episode, in the order of their start. Calls that continue each other share their beginning; others, of
 * sub-agents too, are conversations of their own.
 */
export function episodeOfTrace(traceId: string, spans: readonly OtlpSpan[]): TraceEpisode {
  const inOrder = [...spans].sort((a, b) => a.start - b.start)
  const works = new Map<OtlpSpan, TracedWork>()
  for (const span of inOrder) {
    const work = readWork(span)
    if (work !== undefined) works.set(span, work)
  }
  const problems = [...works.values()].flatMap((work) => (work.kind === 'problem' ? [work.problem] : []))
  const tools = new Map<string, TracedTool>()
  let toolSeconds = 0
  for (const [{ start, end }, work] of works)
    if (work.kind === 'tool') {
      // An id that a trace uses twice is of an error only if both are.
      const isError = work.isError && tools.get(work.callId)?.isError !== false
      if (work.callId !== '') tools.set(work.callId, { ...work, isError })
      toolSeconds += Math.max(0, end - start) / 1000
    }
  const agentOf = agentNames(inOrder, works)
  const calls = [...works].flatMap(([span, work]) => (work.kind === 'call' ? [{ span, call: work }] : []))
  const recorded = recordTexts()
  const shared = sharing()
  for (const { span, call } of calls) addCall(recorded, shared(call), { agent: agentOf(span), tools })
  if (recorded.count() === 0) {
    const failed = calls.find(({ span }) => span.error !== undefined)
    if (calls.length > 0)
      problems.push(failed ? `every call failed: ${failed.span.error}` : 'no call has an answer')
    return { problems }
  }
  addResults(recorded, tools)
  countTokens(
    recorded,
    inOrder.flatMap((span) => works.get(span) ?? []),
  )
  const last = calls.at(-1)
  const times = inOrder.flatMap(({ start, end }) => [start, end]).filter((time) => time > 0)
  const seconds = times.length === 0 ? 0 : spread(times) / 1000
  const models = [...new Set(calls.flatMap(({ call }) => call.model ?? []))]
  const episode = textEpisode({
    id: traceId,
    recorded,
    context: { source: 'opentelemetry', models },
    rewards: inOrder.flatMap(scoresOf),
    ...(last && endOf(last.span, last.call)),
    timing: { seconds, toolSeconds },
  })
  return { episode, problems }
}

/**
 * Each call of a trace repeats all earlier messages. Equal ones become one object, so that finding the call that another continues compares
 * no texts.
 */
function sharing(): (call: TracedCall) => TracedCall {
  const known = new Map<string, unknown>()
  function one<T>(value: T): T {
    const key = JSON.stringify(value)
    if (!known.has(key)) known.set(key, value)
    return known.get(key) as T
  }
  return (call) => ({
    ...call,
    messages: call.messages.map(one),
    answers: call.answers.map(one),
    tools: one(call.tools),
  })
}

/** Where calls do not count their tokens, the first agent that does counts them for all. */
function countTokens({ usage }: RecordedTexts, works: readonly TracedWork[]): void {
  if (usage.promptTokens > 0) return
  for (const work of works) {
    if (work.kind !== 'agent' || work.tokens.input === 0) continue
    usage.promptTokens = work.tokens.input
    usage.sampledTokens = work.tokens.output
    return
  }
}

function spread(times: readonly number[]): number {
  let [least, most] = [Infinity, -Infinity]
  for (const time of times) [least, most] = [Math.min(least, time), Math.max(most, time)]
  return most - least
}

interface TextEpisode {
  id: string
  recorded: RecordedTexts
  context: Record<string, unknown>
  rewards?: EpisodeReward[]
  status?: EpisodeStatus
  ending?: Ending
  error?: string
  timing?: Episode['timing']
}

/** An episode of texts. Nothing has judged it: its success is null. */
export function textEpisode({
  id,
  recorded: { nodes, samples, usage },
  context,
  rewards = [],
  status = 'ok',
  ending = 'answered',
  error,
  timing = { seconds: 0, toolSeconds: 0 },
}: TextEpisode): Episode {
  const task = taskOf(nodes)
  return {
    schema: 1,
    id,
    group: task,
    environment: 'imported',
    task,
    kind: 'imported',
    seed: 0,
    context,
    status,
    ending,
    nodes,
    samples,
    rewards,
    success: null,
    usage,
    timing,
    ...defined({ error }),
  }
}

/** The id of the task of these messages. */
export function taskOf(nodes: Episode['nodes']): string {
  const prompt = nodes.find(({ role }) => role === 'user')?.text
  return prompt === undefined ? 'imported' : importedTaskId(prompt)
}

/** Adds a call and its choices. An answer of nothing, of a call that failed, is left out. */
function addCall(
  recorded: RecordedTexts,
  { messages, answers, tools, tokens, temperature }: TracedCall,
  { agent, tools: results }: { agent: string | undefined; tools: ReadonlyMap<string, TracedTool> },
): void {
  // Where a message does not say that a call failed, the span of the tool does.
  const shown = messages.map((message): ConversationMessage =>
    message.role === 'tool' && results.get(message.callId ?? '')?.isError === true
      ? { ...message, isError: true }
      : message,
  )
  for (const [choice, message] of answers.entries())
    recorded.add({
      messages: shown,
      tools,
      message,
      problems: tools.length === 0 ? [] : problemsOf(message, tools),
      tokens: choice === 0 ? tokens : undefined,
      temperature,
      agent,
    })
}

function problemsOf({ calls = [] }: ConversationMessage, tools: TracedCall['tools']): string[] {
  return calls.flatMap(({ name, arguments: args }) => {
    try {
      return problemOfCall(name, args, tools) ?? []
    } catch {
      // A schema that cannot be read says nothing of the call.
      return []
    }
  })
}

/** Results of tools that no call followed, as the last messages of their conversation. */
function addResults({ nodes }: RecordedTexts, tools: ReadonlyMap<string, TracedTool>): void {
  const shown = new Set(nodes.flatMap(({ callId }) => callId ?? []))
  for (const { id, calls = [], agent } of nodes) {
    let parent = id
    for (const call of calls) {
      const tool = tools.get(call.id)
      if (tool?.result === undefined || shown.has(call.id)) continue
      const { result: text, isError } = tool
      nodes.push({
        id: nodes.length,
        parent,
        agent,
        role: 'tool',
        tokens: new Int32Array(0),
        text,
        callId: call.id,
        isError,
      })
      parent = nodes.length - 1
    }
  }
}

function endOf(
  { error }: OtlpSpan,
  { answers, isCut }: TracedCall,
): Pick<TextEpisode, 'status' | 'ending' | 'error'> {
  const answer = answers.at(0)
  if (error !== undefined && answer === undefined)
    return {
      status: 'masked',
      ending: 'infrastructure',
      error: error === '' ? 'the last call failed' : error,
    }
  if (isCut) return { ending: 'token-limit' }
  return { ending: answer?.calls === undefined ? 'answered' : 'aborted' }
}

/** The name of the agent within which a span is, if agents of the trace have names. */
function agentNames(
  spans: readonly OtlpSpan[],
  works: ReadonlyMap<OtlpSpan, TracedWork>,
): (span: OtlpSpan) => string | undefined {
  const byId = new Map(spans.map((span) => [span.spanId, span]))
  const nameOf = (span: OtlpSpan): string | undefined => {
    const own = span.attributes['gen_ai.agent.name']
    if (typeof own === 'string' && own !== '') return own
    const work = works.get(span)
    return work?.kind === 'agent' ? (work satisfies TracedAgent).name : undefined
  }
  return (span) => {
    const seen = new Set<OtlpSpan>()
    for (
      let at: OtlpSpan | undefined = span;
      at !== undefined && !seen.has(at);
      at = byId.get(at.parent ?? '')
    ) {
      seen.add(at)
      const name = nameOf(at)
      if (name !== undefined) return name
    }
    return undefined
  }
}

/** Scores that an evaluation of the trace left as events. */
function scoresOf({ events }: OtlpSpan): EpisodeReward[] {
  return events.flatMap(({ name, attributes: of }) => {
    const value = of['gen_ai.evaluation.score.value']
    if (name !== 'gen_ai.evaluation.result' || typeof value !== 'number') return []
    const { 'gen_ai.evaluation.name': title, 'gen_ai.evaluation.explanation': reason } = of
    return [
      {
        agent: 'agent',
        name: typeof title === 'string' ? title : 'score',
        value,
        ...(typeof reason === 'string' && { reason }),
      },
    ]
  })
}
