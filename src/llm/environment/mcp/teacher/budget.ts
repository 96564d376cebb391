import { AgogeError } from '../../../../error.ts'
import { parseOwnJson } from '../../../../untrusted/own-json.ts'
import type { CompletionUsage } from '../../../agent/chat-completions.ts'

/** The message of an attempt that was not sent, because it could have exceeded the limit. */
export const limitReached = 'the limit of tokens was reached'

/** A limit on the tokens of all requests to an endpoint. */
export interface TokenBudget {
  readonly limit: number
  /**
   * Tokens of all attempts that are over: what the endpoint counted, or what was reserved if it did not count them.
   */
  spent(): number
  /** Attempts that were sent. */
  requests(): number
  /** True once an attempt was not sent. */
  isReached(): boolean
  /** `beforeAttempt` of `createOpenAIActor`. Rejects with `limitReached` if the attempt could exceed the limit. */
  beforeAttempt(sent: string): Promise<(used: CompletionUsage | undefined) => void>
}

/** An endpoint that counts more raises the estimate of later texts. */
const tokensPerByte = 1 / 3

/** Estimated tokens of a text before it is sent: one for three bytes, rounded up. */
export function estimateTokens(text: string, perByte: number = tokensPerByte): number {
  return Math.ceil(Buffer.byteLength(text) * perByte)
}

/**
 * Holds a limit of tokens. Each attempt reserves the estimated tokens of its prompt and the longest reply. An attempt for
 * which nothing is left waits for the attempts that are under way, since most of them take less than they reserved. If none
 * is, the limit is reached.
 *
 * @example
 * const budget = createTokenBudget(200_000)
 * const beforeAttempt = (sent: string) => budget.beforeAttempt(sent)
 * const actor = createOpenAIActor({ baseUrl, model, maxTokensPerTurn: 2000, beforeAttempt })
 */
export function createTokenBudget(limit: number, signal?: AbortSignal): TokenBudget {
  let [spent, reserved, requests] = [0, 0, 0]
  let isReached = false
  let perByte = tokensPerByte
  let waiting: (() => void)[] = []

  function release(): void {
    const woken = waiting
    waiting = []
    for (const wake of woken) wake()
  }

  return {
    limit,
    spent: () => spent,
    requests: () => requests,
    isReached: () => isReached,
    async beforeAttempt(sent) {
      const reply = longestReply(sent)
      let needed = estimateTokens(sent, perByte) + reply
      while (spent + reserved + needed > limit) {
        if (reserved === 0) {
          isReached = true
          throw new Error(limitReached)
        }
        await new Promise<void>((resolve) => waiting.push(resolve))
        signal?.throwIfAborted()
        needed = estimateTokens(sent, perByte) + reply
      }
      reserved += needed
      requests++
      return (used) => {
        reserved -= needed
        spent += used === undefined ? needed : used.promptTokens + used.sampledTokens
        // A text has at most about one token for each byte. What is above that stands around the text.
        const seen = (used?.promptTokens ?? 0) / Buffer.byteLength(sent)
        perByte = Math.min(1, Math.max(perByte, seen))
        release()
      }
    },
  }
}

/** The limit of a reply, as it is sent. @throws AgogeError if the model refused one: its replies are then of any length. */
function longestReply(sent: string): number {
  const body = parseOwnJson(sent) as { max_tokens?: unknown; max_completion_tokens?: unknown }
  const most = body.max_tokens ?? body.max_completion_tokens
  if (typeof most === 'number') return most
  throw new AgogeError('The teacher takes no limit on the tokens of a reply, so that none can be held.', {
    code: 'model-endpoint-refused',
    given: 'a model that refuses max_tokens and max_completion_tokens',
    expected: 'a model that takes one of them',
  })
}
