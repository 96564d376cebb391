import { randomBytes } from 'node:crypto'
import type { LanguageModel } from '../agent/ai-sdk/read-call.ts'
import { AgogeError } from '../../error.ts'
import { answerCall, createAnswerMemory, errorResponseFor, protocolOf } from '../gateway/answer-call.ts'
import { isOverflow } from '../rollout/agents/rollout-agent.ts'
import { keyOf } from '../serving/http.ts'
import { type OpenedApp, openApp, readRequest } from '../serving/openai/app.ts'
import { RequestError } from '../serving/openai/protocol.ts'
import { BudgetReached } from './budget.ts'
import type { AgentEndpoint } from './config.ts'

/** A trial that may use the endpoint. */
interface EndpointTrial {
  /** The metered model of the trial. */
  model: LanguageModel
  name: string
  /** Called with mistakes that no trial would get over. What else fails is reported by the model. */
  onFault: (error: Error) => void
}

/** The endpoint as one trial has it. */
interface TrialEndpoint {
  open: () => Promise<AgentEndpoint>
  /** Whether the last call was refused because the conversation has become too long. */
  isOverflowing: () => boolean
  close: () => void
}

/** One server for all trials of an evaluation. It starts when the first agent asks for it. */
export interface TrialEndpoints {
  of: (trial: EndpointTrial) => TrialEndpoint
  close: () => Promise<void>
}

/** Largest body of a request in bytes: the limit of Anthropic. */
export const mostBodyBytes = 32 * 2 ** 20

interface Caller extends EndpointTrial {
  memory: ReturnType<typeof createAnswerMemory>
  isOverflowing: boolean
}

/** Each trial has a key of its own, which ends with it. */
export function createTrialEndpoints(): TrialEndpoints {
  const callers = new Map<string, Caller>()
  let server: Promise<OpenedApp> | undefined

  const callerOf = (key: string | undefined): Caller => {
    const caller = callers.get(key ?? '')
    if (caller !== undefined) return caller
    throw new RequestError(401, 'invalid_api_key', 'This key is of no trial, or its trial is over.')
  }
  const start = (): Promise<OpenedApp> =>
    openApp({
      host: '127.0.0.1',
      port: 0,
      check: (incoming) => void callerOf(keyOf(incoming)),
      errorOf: errorResponseFor,
      routes(app) {
        app.get('/v1/models', ({ env, json }) => {
          const { name } = callerOf(keyOf(env.incoming))
          return json({
            object: 'list',
            data: [{ id: name, object: 'model', created: 0, owned_by: 'agoge' }],
          })
        })
        app.post('*', async ({ req, env, get, notFound }) => {
          const protocol = protocolOf(req.path)
          if (protocol === undefined) return notFound()
          const caller = callerOf(keyOf(env.incoming))
          caller.isOverflowing = false
          const { model, name, memory } = caller
          const body = await readRequest(env.incoming, mostBodyBytes)
          return answerCall({
            protocol,
            call: protocol.read(body, memory.find),
            model,
            name,
            signal: get('signal'),
            memory,
            errorOf: (error) => refusalOf(error, caller),
          })
        })
      },
    })

  return {
    of(trial) {
      const key = `agoge-${randomBytes(24).toString('base64url')}`
      const caller: Caller = { ...trial, memory: createAnswerMemory(), isOverflowing: false }
      let isOver = false
      return {
        async open() {
          server ??= start()
          const { url } = await server
          if (!isOver) callers.set(key, caller)
          return { baseURL: `${url}/v1`, apiKey: key, model: trial.name }
        },
        isOverflowing: () => caller.isOverflowing,
        close() {
          isOver = true
          callers.delete(key)
        },
      }
    },
    async close() {
      await (await server?.catch(() => undefined))?.close(0)
    },
  }
}

/** Statuses that no client tries again: the model has tried already. */
function refusalOf(error: unknown, caller: Caller): RequestError {
  if (error instanceof RequestError) return error
  const text = error instanceof Error ? error.message : String(error)
  if (error instanceof BudgetReached) return new RequestError(402, 'budget_reached', text)
  caller.isOverflowing = isOverflow(error)
  if (caller.isOverflowing)
    return new RequestError(400, 'context_length_exceeded', `prompt is too long: ${text}`)
  if (AgogeError.isInstance(error)) caller.onFault(error)
  return new RequestError(400, 'model_call_failed', text)
}
