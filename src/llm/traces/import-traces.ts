import { statSync } from 'node:fs'
import { AgogeError } from '../../error.ts'
import { checkFile, withFileErrors } from '../../runs/files.ts'
import { createLineWriter } from '../../runs/line-writer.ts'
import { withoutKeys } from '../../untrusted/key-shapes.ts'
import { mostLineBytes } from '../../untrusted/foreign-stream.ts'
import { redactData } from '../../untrusted/untrusted.ts'
import { encodeEpisode } from '../episode/codec.ts'
import type { Episode } from '../episode/types.ts'
import { redactorOf, secretsOfEnvironment } from '../tool/redact.ts'
import { episodeOfChat } from './chat-logs.ts'
import { type OtlpEvent, type OtlpSpan, readLog, readSpan } from './otlp.ts'
import { readInput } from './read-input.ts'
import { createSpool, type Spool, type SpooledPart } from './spool.ts'
import { episodeOfTrace, taskOf, type TraceEpisode } from './trace-episode.ts'

/** Settings of `importTraces`. */
export interface ImportTracesOptions {
  /** The file of episodes, which is replaced. */
  out: string
  /** Things that cannot be read, lines, spans and traces, after which the import ends with an error. Default: 100. */
  mostProblems?: number
  /** Called with each of them. */
  onProblem?: (problem: ImportProblem) => void
  /** Further values to replace by `[redacted]`. Default: those of environment variables that are named like keys. */
  secrets?: readonly string[]
  signal?: AbortSignal
  /** Bytes of a line, and of the input that is kept in memory. Default: 64 and 32 MiB. For tests. */
  bytes?: { line: number; share: number }
}

/** What could not be read, where it stands, and why. */
export interface ImportProblem {
  place: string
  problem: string
}

/** What was imported. */
export interface ImportSummary {
  episodes: number
  /** Answers of models. */
  calls: number
  toolCalls: number
  /** Tokens as the traces count them. */
  tokens: { input: number; output: number }
  /** Episodes by the name of the model. Empty if the traces name none. */
  models: Record<string, number>
  /** Calls of tools by the name of the tool. */
  tools: Record<string, number>
  /** Episodes that end in a fault. */
  masked: number
  /** Traces without a call of a model. */
  otherTraces: number
  /** What could not be read, by reason. */
  problems: Record<string, number>
}

/**
 * Reads traces (OTLP/JSON, with the spans of OpenTelemetry's GenAI conventions, the AI SDK, OpenLLMetry or OpenInference) and chat logs (JSONL of
 * `{ messages }`), and writes each trace and each conversation as an episode. Secrets are redacted. Large files are read as streams.
 *
 * @throws AgogeError `bad-traces` if nothing could be imported or too much is unreadable; then no file is written.
 * @example
 * const { episodes } = await importTraces(['traces.jsonl'], { out: 'episodes.jsonl' })
 */
export async function importTraces(
  files: readonly string[],
  options: ImportTracesOptions,
): Promise<ImportSummary> {
  const { out, secrets = secretsOfEnvironment(), bytes } = options
  checkFile(out)
  const size = files.reduce((sum, file) => sum + withFileErrors(file, () => statSync(file).size), 0)
  const spool = createSpool(size, bytes?.share)
  const writer = createLineWriter(out)
  const redactor = redactorOf(secrets)
  const redact = (text: string): string => withoutKeys(redactor.text(text))
  const tally = createTally(options, redact)
  const keep = ({ episode, problems }: TraceEpisode, place: string): void => {
    options.signal?.throwIfAborted()
    for (const problem of problems) tally.problem({ place, problem })
    if (episode === undefined) return tally.leftOut(problems)
    tally.count(episode)
    const redacted = redactData(episode, redact)
    // Of the prompt as it is kept.
    const task = taskOf(redacted.nodes)
    writer.write(encodeEpisode({ ...redacted, task, group: task }))
  }
  try {
    for (const file of files) await readFile(file, { spool, keep, tally, most: bytes?.line })
    for await (const parts of spool.traces()) {
      const [first] = parts
      const traceId = first.type === 'span' ? first.span.traceId : first.log.traceId
      keep(episodeOfTrace(traceId, withLogs(parts)), `trace ${traceId}`)
    }
    const { summary } = tally
    if (summary.episodes === 0) throw nothingImported(files, summary)
    writer.finish()
    return summary
  } finally {
    writer.discard()
    await spool.close()
  }
}

interface Reading {
  spool: Spool
  keep: (episode: TraceEpisode, place: string) => void
  tally: Tally
  most: number | undefined
}

async function readFile(file: string, { spool, keep, tally, most = mostLineBytes }: Reading): Promise<void> {
  for await (const item of readInput(file, most)) {
    const { place } = item
    if (item.type === 'problem') tally.problem({ place, problem: item.problem })
    else if (item.type === 'chat') keep(episodeOfChat(place, item.value), place)
    else if (item.type === 'span') {
      const span = readSpan(item.value)
      if ('problem' in span) tally.problem({ place, ...span })
      else spool.add({ type: 'span', span })
    } else {
      const log = readLog(item.value)
      if (log !== undefined) spool.add({ type: 'log', log })
    }
  }
}

/** The spans of a trace, each with the log records that belong to it as events. */
function withLogs(parts: readonly SpooledPart[]): OtlpSpan[] {
  const spans = parts.flatMap((part) => (part.type === 'span' ? [part.span] : []))
  const logs = parts
    .flatMap((part) => (part.type === 'log' ? [part.log] : []))
    .sort((a, b) => a.time - b.time)
  const bySpan = new Map<string, OtlpEvent[]>()
  for (const log of logs) bySpan.set(log.spanId, [...(bySpan.get(log.spanId) ?? []), log])
  return spans.map((span) => ({ ...span, events: [...span.events, ...(bySpan.get(span.spanId) ?? [])] }))
}

interface Tally {
  summary: ImportSummary
  count: (episode: Episode) => void
  leftOut: (problems: readonly string[]) => void
  problem: (problem: ImportProblem) => void
}

function createTally(
  { mostProblems = 100, onProblem }: ImportTracesOptions,
  redact: (text: string) => string,
): Tally {
  const summary: ImportSummary = {
    episodes: 0,
    calls: 0,
    toolCalls: 0,
    tokens: { input: 0, output: 0 },
    models: {},
    tools: {},
    masked: 0,
    otherTraces: 0,
    problems: {},
  }
  let count = 0
  return {
    summary,
    count({ nodes, samples, usage, context, status }) {
      summary.episodes += 1
      summary.calls += samples.length
      summary.tokens.input += usage.promptTokens
      summary.tokens.output += usage.sampledTokens
      if (status === 'masked') summary.masked += 1
      for (const model of context['models'] as string[]) add(summary.models, model, 1)
      for (const { output } of samples)
        for (const { name } of nodes[output].calls ?? []) {
          summary.toolCalls += 1
          add(summary.tools, name, 1)
        }
    },
    leftOut(problems) {
      if (problems.length === 0) summary.otherTraces += 1
    },
    problem(given) {
      // The error of a call may repeat what it was sent.
      const problem = { ...given, problem: redact(given.problem) }
      count += 1
      add(summary.problems, problem.problem, 1)
      onProblem?.(problem)
      if (count <= mostProblems) return
      throw new AgogeError(`more than ${mostProblems} lines, spans or traces cannot be read`, {
        code: 'bad-traces',
        given: `${problem.place}: ${problem.problem}`,
        expected: 'traces as OTLP/JSON ({"resourceSpans": [...]}), or lines of {"messages": [...]}',
        hint: 'If the others are worth it, allow more: --max-bad NUMBER',
      })
    },
  }
}

function add(counts: Record<string, number>, name: string, count: number): void {
  const before = Object.hasOwn(counts, name) ? counts[name] : 0
  Object.defineProperty(counts, name, {
    value: before + count,
    enumerable: true,
    configurable: true,
    writable: true,
  })
}

function nothingImported(files: readonly string[], { problems, otherTraces }: ImportSummary): AgogeError {
  const reasons = Object.entries(problems).map(([problem, count]) => `${count} times: ${problem}`)
  const others = otherTraces > 0 ? [`${otherTraces} traces without a call of a model`] : []
  return new AgogeError('there is no conversation to import', {
    code: 'bad-traces',
    given: [...reasons, ...others].join('\n') || `nothing in ${files.join(', ')}`,
    expected: 'calls of models with their messages',
    hint: 'Most instrumentations record messages only if that is switched on',
  })
}
