import { setTimeout as sleep } from 'node:timers/promises'
import { AgogeError } from '../../error.ts'
import { sha256 } from '../../runs/checksums.ts'
import type { CallOptions, LanguageModel } from '../agent/ai-sdk/read-call.ts'
import { InfrastructureError } from '../tool/tool.ts'
import {
  type Budget,
  BudgetReached,
  type CallTokens,
  costOf,
  type Reservation,
  type Spending,
} from './budget.ts'
import { tokensOf } from '../gateway/answer.ts'
import type { CallResult } from '../gateway/record-calls.ts'
import type { AgogeConfig } from './config.ts'
import { failureOf } from '../agent/call-failures.ts'
import type { Journal } from './journal.ts'
import type { OpenedModel } from './models.ts'

/** The limits of calls. */
export interface CallLimits {
  maxOutputTokens: number
  /** Further attempts after a passing failure. */
  retries: number
  callSeconds: number
  /** Pause before the first retry in seconds; it doubles each time. */
  backoffSeconds: number
}

/** The limits of a config. */
export function limitsOf({
  maxOutputTokens = 4096,
  retries = 4,
  callSeconds = 120,
  backoffSeconds = 0.5,
}: Pick<AgogeConfig, keyof CallLimits>): CallLimits {
  return { maxOutputTokens, retries, callSeconds, backoffSeconds }
}

/** The calls of one trial. */
export interface CallMeter {
  trial: string
  journal: Journal
  budget: Budget
  limits: CallLimits
  /** Of the trial. */
  signal: AbortSignal
  onCall: (options: CallOptions, result: CallResult) => void
  /** What an attempt cost, successful or not. Called for calls of an earlier process too. */
  onCost: (cost: Spending) => void
  /** Called when a call failed after all attempts, for a reason that is not the agent's. */
  onFault: (error: Error) => void
}

/**
 * The model object that an agent gets: that of the config, with each call limited in tokens and time, reserved in the budget, tried again after a
 * passing failure, kept in the journal and reported to the meter. A call that the journal answers is not made.
 */
export function meterModel({ name, model, isLocal, price }: OpenedModel, meter: CallMeter): LanguageModel {
  const { journal, budget, limits, trial } = meter
  const counts = new Map<string, number>()

  /** The options to send, and the name of the call: the same in a process that repeats the trial. */
  function prepare(given: CallOptions): { options: CallOptions; key: string } {
    const { abortSignal: _, ...settings } = given
    const hash = sha256(JSON.stringify([name, settings])).slice(0, 32)
    const count = counts.get(hash) ?? 0
    counts.set(hash, count + 1)
    const key = `${hash} ${count}`
    const options = { ...given, maxOutputTokens: given.maxOutputTokens ?? limits.maxOutputTokens }
    if (isLocal) options.seed ??= Number.parseInt(sha256(`${trial} ${key}`).slice(0, 8), 16)
    return { options, key }
  }

  /** Makes a call, again after passing failures. The caller settles the reservation. */
  async function attempt<T>(
    key: string,
    options: CallOptions,
    make: (options: CallOptions) => PromiseLike<T>,
  ): Promise<{ given: T; reservation: Reservation }> {
    if (budget.isLimited) refuseFiles(options)
    const most = { input: mostTokens(options), output: options.maxOutputTokens ?? limits.maxOutputTokens }
    for (let tried = 0; ; tried += 1) {
      const reservation = await reserve(most)
      journal.write({ type: 'sent', trial, key, most: reservation.most })
      const timeout = AbortSignal.timeout(Math.ceil(limits.callSeconds * 1000))
      const signals = [meter.signal, timeout, ...(options.abortSignal ? [options.abortSignal] : [])]
      try {
        return { given: await make({ ...options, abortSignal: AbortSignal.any(signals) }), reservation }
      } catch (error) {
        const failure = failureOf(error, timeout.aborted ? limits.callSeconds : undefined)
        fail(key, reservation, failure.isFree)
        meter.signal.throwIfAborted()
        options.abortSignal?.throwIfAborted()
        if (failure.kind === 'agent' || failure.kind === 'mistake') throw failure.error
        if (failure.kind === 'lasting' || tried >= limits.retries) throw faulty(failure.error)
        const pause = failure.waitSeconds ?? limits.backoffSeconds * 2 ** tried
        await sleep(pause * 1000, undefined, { signal: meter.signal })
      }
    }
  }

  async function reserve(most: CallTokens): Promise<Reservation> {
    try {
      return await budget.reserve(most, price, meter.signal)
    } catch (error) {
      if (error instanceof BudgetReached) meter.onFault(error)
      throw error
    }
  }

  function faulty(cause: Error): Error {
    meter.onFault(cause)
    // No error type that the AI SDK would try again.
    return new InfrastructureError(cause.message, { cause })
  }

  function fail(key: string, reservation: Reservation, isFree: boolean): void {
    const cost = reservation.settle(isFree ? { input: 0, output: 0 } : undefined)
    journal.write({ type: 'failed', trial, key, cost })
    meter.onCost(cost)
  }

  function finish(key: string, options: CallOptions, reservation: Reservation, result: Finished): void {
    const cost = reservation.settle(result.called.tokens)
    journal.write({ type: 'answer', trial, key, cost, result: result.kept })
    meter.onCost(cost)
    meter.onCall(options, result.called)
  }

  /** A call that an earlier process of this evaluation made. */
  function repeat(options: CallOptions, called: CallResult): void {
    if (called.tokens !== undefined) meter.onCost(costOf(called.tokens, price))
    meter.onCall(options, called)
  }

  const target = model as unknown as {
    doGenerate: (options: CallOptions) => PromiseLike<Generated>
    doStream: (options: CallOptions) => PromiseLike<Streamed>
  }
  const metered = {
    ...pick(model),
    async doGenerate(given: CallOptions): Promise<Generated> {
      const { options, key } = prepare(given)
      const earlier = journal.answer(trial, key) as Generated | undefined
      if (earlier !== undefined) {
        repeat(options, { content: earlier.content, tokens: tokensOf(earlier.usage) })
        return earlier
      }
      const { given: result, reservation } = await attempt(key, options, (o) => target.doGenerate(o))
      // Bodies and headers are large, and may hold what a journal must not.
      const { request: _request, response, ...kept } = result
      const { body: _body, headers: _headers, ...facts } = response ?? {}
      finish(key, options, reservation, {
        called: { content: result.content, tokens: tokensOf(result.usage) },
        kept: { ...kept, response: facts },
      })
      return result
    },
    async doStream(given: CallOptions): Promise<Streamed> {
      const { options, key } = prepare(given)
      const earlier = journal.answer(trial, key) as StreamedPart[] | undefined
      if (earlier !== undefined) {
        repeat(options, readStream(earlier))
        return { stream: ReadableStream.from<StreamedPart>(earlier) }
      }
      const { given: result, reservation } = await attempt(key, options, (o) => target.doStream(o))
      // The agent stopped reading: no fault, but it may have to be paid for.
      const leave = (): void => fail(key, reservation, false)
      return {
        ...result,
        stream: watched(result.stream, meter.signal, {
          end: (parts) =>
            finish(key, options, reservation, { called: readStream(parts), kept: parts.filter(isKept) }),
          leave,
          fail(error) {
            leave()
            const failure = failureOf(error, undefined)
            return failure.kind === 'agent' ? failure.error : faulty(failure.error)
          },
        }),
      }
    },
  }
  return metered as unknown as LanguageModel
}

interface Generated {
  content: CallResult['content']
  usage?: unknown
  request?: unknown
  response?: Record<string, unknown>
}

interface StreamedPart {
  type: string
  [field: string]: unknown
}

interface Streamed {
  stream: ReadableStream<StreamedPart>
  [field: string]: unknown
}

interface Finished {
  called: CallResult
  kept: unknown
}

/** The properties of a model object other than its functions. Some are getters of a class. */
function pick(model: OpenedModel['model']): object {
  const { specificationVersion, provider, modelId } = model
  const { supportedUrls } = model as { supportedUrls?: unknown }
  return { specificationVersion, provider, modelId, supportedUrls: supportedUrls ?? {} }
}

/**
 * No tokenizer makes more tokens than a text has bytes. What a provider adds around messages and tools is less than their JSON
 * and 1,000 tokens.
 */
function mostTokens({ prompt, tools = [] }: CallOptions): number {
  return Buffer.byteLength(JSON.stringify({ prompt, tools })) + 1000
}

/** An address of an image does not show how many tokens it becomes. */
function refuseFiles({ prompt }: CallOptions): void {
  const hasFile = prompt.some(
    ({ content }) =>
      typeof content !== 'string' && content.some(({ type }) => type === 'file' || type === 'image'),
  )
  if (hasFile)
    throw new AgogeError('the most that a call with files can cost is not known', {
      code: 'unsupported-content',
      given: 'a prompt with a file, and a budget',
      expected: 'prompts of text, or no budget',
    })
}

const isKept = ({ type }: StreamedPart): boolean => type !== 'raw'

/** Puts the parts of a stream together. */
function readStream(parts: readonly StreamedPart[]): CallResult {
  const texts = { text: '', reasoning: '' }
  const calls: StreamedPart[] = []
  let tokens: CallTokens | undefined
  for (const part of parts) {
    if (part.type === 'text-delta') texts.text += String(part['delta'])
    else if (part.type === 'reasoning-delta') texts.reasoning += String(part['delta'])
    else if (part.type === 'tool-call') calls.push(part)
    else if (part.type === 'finish') tokens = tokensOf(part['usage'])
  }
  const content = (['reasoning', 'text'] as const).flatMap((type) =>
    texts[type] === '' ? [] : [{ type, text: texts[type] }],
  )
  return { content: [...content, ...calls], tokens }
}

interface StreamEnds {
  /** The answer is whole. */
  end: (parts: StreamedPart[]) => void
  /** The stream broke off, or said that it failed. Returns the error for its reader. */
  fail: (error: unknown) => Error
  /** The reader went away, or the trial is over and the stream was not read to its end. */
  leave: () => void
}

/** The stream, with its parts collected. Exactly one of the ends is called. */
function watched(
  stream: ReadableStream<StreamedPart>,
  signal: AbortSignal,
  ends: StreamEnds,
): ReadableStream<StreamedPart> {
  const parts: StreamedPart[] = []
  const reader = stream.getReader()
  let ended = false
  const once = <T>(work: () => T): T | undefined => {
    if (ended) return undefined
    ended = true
    return work()
  }
  // A stream that is left without being cancelled would hold its part of the budget for ever.
  signal.addEventListener('abort', () => once(ends.leave), { once: true })
  return new ReadableStream<StreamedPart>({
    async pull(controller) {
      try {
        const { done, value } = await reader.read()
        if (!done) {
          parts.push(value)
          if (value.type === 'error') once(() => ends.fail(value['error']))
          return controller.enqueue(value)
        }
        const isWhole = ended || parts.some(({ type }) => type === 'finish')
        if (!isWhole) throw new Error('the stream ended before the answer did')
        once(() => ends.end(parts))
        controller.close()
      } catch (error) {
        controller.error(once(() => ends.fail(error)) ?? error)
      }
    },
    async cancel(why) {
      once(ends.leave)
      await reader.cancel(why)
    },
  })
}
