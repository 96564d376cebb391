import { createHash } from 'node:crypto'
import { createLineWriter } from '../../runs/line-writer.ts'
import { streamEpisodes } from '../episode/codec.ts'
import type { Episode, EpisodeNode, EpisodeSample } from '../episode/types.ts'
import { conversationTo } from './conversation.ts'
import { type Attributes, writeAttributes } from './otlp.ts'

/** Settings of `episodeToOtlp`. */
export interface OtlpOptions {
  /** Includes messages, arguments and results of tools, and the reasons of judges. Default: false, as the conventions have it. */
  content?: boolean
  /** Name of the model, where the episode does not say it. Default: none. */
  model?: string
  /** What the episodes are of. Episodes with the same id in different runs get different traces. Default: empty. */
  run?: string
  /** When the episode ended. Default: now. */
  time?: Date
}

/** The scope of the spans. */
const scope = { name: 'agoge' }

/**
 * An episode as a trace: a request of OTLP/JSON with spans of OpenTelemetry's GenAI conventions. The episode is a span `invoke_agent` with its scores as
 * events; each answer of a model is a span `chat`, each call of a tool a span `execute_tool`. Episodes do not say when a call began: their seconds
 * are divided evenly.
 *
 * @returns plain data for `JSON.stringify`, one line of an OTLP file.
 * @example JSON.stringify(episodeToOtlp(episode, { content: true }))
 */
export function episodeToOtlp(episode: Episode, options: OtlpOptions = {}): object {
  const { content = false, run = '', time = new Date() } = options
  const traceId = idOf(`${run} ${episode.id}`, 32)
  const samples = new Map(episode.samples.map((sample) => [sample.output, sample]))
  const parts = episode.nodes.filter(({ id, role }) => samples.has(id) || role === 'tool')
  const end = BigInt(time.getTime()) * 1_000_000n
  const slice = BigInt(Math.max(1000, Math.round((episode.timing.seconds * 1e9) / Math.max(1, parts.length))))
  const start = end - slice * BigInt(Math.max(1, parts.length))
  const rootId = idOf(`${traceId} root`, 16)
  const spans = parts.map((node, at) => ({
    traceId,
    spanId: idOf(`${traceId} ${node.id}`, 16),
    parentSpanId: rootId,
    ...spanOf(node, samples.get(node.id), episode, { ...options, content }),
    startTimeUnixNano: String(start + slice * BigInt(at)),
    endTimeUnixNano: String(start + slice * BigInt(at + 1)),
  }))
  const root = {
    traceId,
    spanId: rootId,
    ...rootSpan(episode, { ...options, content }, String(end)),
    startTimeUnixNano: String(start),
    endTimeUnixNano: String(end),
  }
  const resource = { attributes: writeAttributes({ 'service.name': episode.environment }) }
  return { resourceSpans: [{ resource, scopeSpans: [{ scope, spans: [root, ...spans] }] }] }
}

const idOf = (text: string, digits: number): string =>
  createHash('sha256').update(text).digest('hex').slice(0, digits)

type SpanOptions = OtlpOptions & { content: boolean }

const internal = 1
const client = 3

function rootSpan(episode: Episode, { content }: SpanOptions, time: string): object {
  const { id, task, kind, status, ending, success, usage, error, nodes, samples } = episode
  const agent = nodes.find((node) => node.id === samples.at(0)?.output)?.agent ?? 'agent'
  return {
    name: `invoke_agent ${agent}`,
    kind: internal,
    attributes: writeAttributes({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.agent.name': agent,
      'gen_ai.usage.input_tokens': usage.promptTokens,
      'gen_ai.usage.output_tokens': usage.sampledTokens,
      'agoge.episode.id': id,
      'agoge.task.id': task,
      'agoge.task.kind': kind,
      'agoge.status': status,
      'agoge.ending': ending,
      'agoge.success': success ?? undefined,
    }),
    events: episode.rewards.flatMap(({ name, value, reason }) =>
      value === null
        ? []
        : [
            {
              name: 'gen_ai.evaluation.result',
              timeUnixNano: time,
              attributes: writeAttributes({
                'gen_ai.evaluation.name': name,
                'gen_ai.evaluation.score.value': value,
                'gen_ai.evaluation.explanation': content ? reason : undefined,
              }),
            },
          ],
    ),
    status: status === 'ok' ? {} : { code: 2, message: content ? (error ?? ending) : ending },
  }
}

function spanOf(
  node: EpisodeNode,
  sample: EpisodeSample | undefined,
  episode: Episode,
  options: SpanOptions,
): object {
  return sample === undefined ? toolSpan(node, episode, options) : chatSpan(node, sample, episode, options)
}

function chatSpan(
  node: EpisodeNode,
  { mask, sampling }: EpisodeSample,
  episode: Episode,
  { content, model: given }: SpanOptions,
): object {
  const model = modelOf(episode) ?? given
  const tokens = mask.reduce((sum, one) => sum + one, 0)
  const isCut = episode.ending === 'token-limit' && node.id === episode.samples.at(-1)?.output
  const finish = isCut ? 'length' : node.calls === undefined ? 'stop' : 'tool_call'
  return {
    name: model === undefined ? 'chat' : `chat ${model}`,
    kind: client,
    attributes: writeAttributes({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': providerOf(model),
      'gen_ai.request.model': model,
      'gen_ai.agent.name': node.agent,
      'gen_ai.request.temperature': sampling.temperature,
      'gen_ai.request.top_p': sampling.topP,
      'gen_ai.request.top_k': sampling.topK,
      'gen_ai.response.finish_reasons': [finish],
      'gen_ai.usage.output_tokens': tokens === 0 ? undefined : tokens,
      ...(content && {
        'gen_ai.input.messages': JSON.stringify(
          conversationTo(episode.nodes, node.id).slice(0, -1).map(messageOf),
        ),
        'gen_ai.output.messages': JSON.stringify([{ ...messageOf(node), finish_reason: finish }]),
      }),
    }),
    events: [],
    status: {},
  }
}

function toolSpan(
  { id, callId, text, isError }: EpisodeNode,
  { nodes }: Episode,
  { content }: SpanOptions,
): object {
  // The nearest call with this id above the result.
  const call = conversationTo(nodes, id)
    .flatMap(({ calls = [] }) => calls)
    .findLast((one) => one.id === callId)
  return {
    name: call === undefined ? 'execute_tool' : `execute_tool ${call.name}`,
    kind: internal,
    attributes: writeAttributes({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': call?.name,
      'gen_ai.tool.call.id': callId,
      'gen_ai.tool.type': 'function',
      ...(content && {
        'gen_ai.tool.call.arguments': call && JSON.stringify(call.arguments),
        'gen_ai.tool.call.result': text,
      }),
    }),
    events: [],
    status: isError === true ? { code: 2, message: content ? text : '' } : {},
  }
}

/** A message in the parts of the conventions. */
function messageOf({ role, text, calls = [], callId, isError }: EpisodeNode): Attributes {
  if (role === 'tool') {
    const response = {
      type: 'tool_call_response',
      id: callId,
      response: text,
      ...(isError && { is_error: true }),
    }
    return { role, parts: [response] }
  }
  const said = text === '' && calls.length > 0 ? [] : [{ type: 'text', content: text }]
  const asked = calls.map(({ id, name, arguments: args }) => ({
    type: 'tool_call',
    id,
    name,
    arguments: args,
  }))
  return { role, parts: [...said, ...asked] }
}

/** The model of an episode: what an import found, or the beginning of the ids of an evaluation, `MODEL/TASK/TRIAL`. */
function modelOf({ context, environment, group, task }: Episode): string | undefined {
  const { models } = context
  if (Array.isArray(models) && typeof models[0] === 'string') return models[0]
  return environment === 'agent' && group.endsWith(`/${task}`) ? group.slice(0, -task.length - 1) : undefined
}

/** `openai` of `openai/gpt-5`. The conventions require a provider. */
function providerOf(model = ''): string {
  const slash = model.indexOf('/')
  return slash > 0 ? model.slice(0, slash) : 'unknown'
}

/** Settings of `exportOtel`. */
export interface ExportOtelOptions extends OtlpOptions {
  /** The file of traces, which is replaced. */
  out: string
}

/**
 * Writes the episodes of a file as traces: a file of OTLP/JSON, one line for each episode. Reads it as a stream.
 *
 * @returns the number of episodes.
 * @throws AgogeError as `readEpisodes` does.
 * @example await exportOtel('.agoge/evaluations/NAME/episodes.jsonl', { out: 'traces.jsonl', content: true })
 */
export async function exportOtel(episodes: string, { out, ...options }: ExportOtelOptions): Promise<number> {
  const writer = createLineWriter(out)
  let count = 0
  try {
    for await (const episode of streamEpisodes(episodes)) {
      writer.write(JSON.stringify(episodeToOtlp(episode, options)))
      count += 1
    }
    writer.finish()
    return count
  } finally {
    writer.discard()
  }
}
