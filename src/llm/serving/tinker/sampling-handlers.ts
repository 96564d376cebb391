import { randomBytes } from 'node:crypto'
import type { ModelBackend, SampleOptions, SampleOutput } from '../../model-backend.ts'
import type { SampleBatch, SampleResponse } from '../../backend/tinker/index.ts'
import { taken } from './context.ts'
import type { Handler } from './context.ts'
import { readModelInput } from './datums.ts'
import {
  countOf,
  fieldsOf,
  flagOf,
  listOf,
  numberOf,
  optionalCount,
  optionalFields,
  optionalText,
  textOf,
} from './fields.ts'
import type { Fields } from './fields.ts'
import { refuse } from './refusal.ts'
import { addSampler } from './session-handlers.ts'
import { once } from './sessions.ts'

const mostSamples = 1024

interface Row {
  prompt: Int32Array
  key: string | number
  options: SampleOptions
  promptLogprobs: boolean
}

/** `sampling_params`. Without a limit the window of the model is one. */
function readOptions(params: Fields, window: number, seed: number): SampleOptions {
  const stop = readStop(params['stop'])
  const topK = numberOf(params, 'top_k', -1)
  const topP = numberOf(params, 'top_p', 1, 0)
  return {
    maxTokens: countOf(params, 'max_tokens', window, 1),
    stop: stop.tokens,
    ...(stop.texts.length === 0 ? {} : { stopSequences: stop.texts }),
    temperature: numberOf(params, 'temperature', 1, 0),
    seed,
    ...(topK < 1 ? {} : { topK }),
    ...(topP >= 1 ? {} : { topP }),
  }
}

function readStop(stop: unknown): { tokens: number[]; texts: string[] } {
  const list = stop === undefined || stop === null ? [] : Array.isArray(stop) ? (stop as unknown[]) : [stop]
  const tokens = list.filter((each) => typeof each === 'number')
  const texts = list.filter((each) => typeof each === 'string')
  if (tokens.length === list.length || texts.length === list.length) return { tokens, texts }
  throw refuse('tinker-bad-request', 'The field stop is wrong', {
    given: stop,
    expected: 'token ids, or texts',
  })
}

function readBatch(agoge: Fields): SampleBatch | undefined {
  const batch = optionalFields(agoge, 'batch')
  if (batch === undefined) return undefined
  return {
    id: textOf(batch, 'id'),
    index: countOf(batch, 'index', undefined),
    count: countOf(batch, 'count', undefined, 1),
  }
}

/** The random streams of the samples: named by the client, made of its seed, or of chance. */
function keysOf(agoge: Fields | undefined, seed: number | undefined, count: number): (string | number)[] {
  if (agoge === undefined) {
    const source = seed ?? randomBytes(8).toString('hex')
    return Array.from({ length: count }, (_, i) => `${source}:${i}`)
  }
  const keys = listOf(agoge, 'keys').filter((key) => typeof key === 'string' || typeof key === 'number')
  if (keys.length === count) return keys
  throw refuse('tinker-bad-request', 'The field agoge.keys is wrong', {
    expected: `${count} keys, one a sample`,
  })
}

async function draw(from: Pick<ModelBackend, 'sample'>, rows: readonly Row[]): Promise<SampleOutput[]> {
  const requests = rows.map(({ prompt, key, promptLogprobs }) => ({
    prompt,
    key,
    ...(promptLogprobs ? { promptLogprobs } : {}),
  }))
  return from.sample(requests, rows[0].options)
}

function responseOf(drawn: readonly SampleOutput[]): SampleResponse {
  const [{ promptLogprobs }] = drawn
  return {
    sequences: drawn.map((output) => ({
      stop_reason: output.finish,
      tokens: output.tokens,
      logprobs: output.logprobs,
    })),
    ...(promptLogprobs === undefined
      ? {}
      : { prompt_logprobs: Array.from(promptLogprobs, (value, i) => (i === 0 ? null : value)) }),
  }
}

export const sample: Handler = ({ context, body, digest }) => {
  const sessionId = optionalText(body, 'sampling_session_id')
  const path = optionalText(body, 'model_path')
  const baseModel = optionalText(body, 'base_model')
  const sampler =
    sessionId === undefined
      ? addSampler(context, path ?? `base ${baseModel}`, path, baseModel)
      : context.samplers.find(sessionId)
  if (countOf(body, 'topk_prompt_logprobs', 0) > 0)
    throw refuse('tinker-bad-request', 'topk_prompt_logprobs cannot be had here', { expected: '0' })
  const prompt = readModelInput(fieldsOf(body['prompt'], 'prompt'))
  const count = countOf(body, 'num_samples', 1, 1)
  if (count > mostSamples)
    throw refuse('tinker-bad-request', 'That are too many samples for one request', {
      given: count,
      expected: `at most ${mostSamples}`,
    })
  const params = fieldsOf(body['sampling_params'] ?? {}, 'sampling_params')
  const agoge = optionalFields(body, 'agoge')
  const seed = params['seed'] == null ? undefined : numberOf(params, 'seed', undefined)
  const window = sampler.baseModel.config.max_position_embeddings
  const options = readOptions(params, window, agoge === undefined ? 0 : (seed ?? 0))
  const promptLogprobs = flagOf(body, 'prompt_logprobs', false)
  const keys = keysOf(agoge, seed, count)
  const batch = agoge === undefined ? undefined : readBatch(agoge)

  const number = sessionId === undefined ? undefined : optionalCount(body, 'seq_id')
  const key = number === undefined ? undefined : `${sampler.id} ${number}`
  const requestId = once(context.samples, key, digest, () => {
    const drawing = context.work.sample<Row, SampleOutput>({
      group: `${sampler.id} ${JSON.stringify(options)}`,
      rows: keys.map((each, i) => ({
        prompt,
        key: each,
        options,
        promptLogprobs: promptLogprobs && i === 0,
      })),
      ...(batch === undefined ? {} : { batch }),
      isApart: () => context.samplers.isApart(sampler.id),
      draw: async (rows) => draw(await context.samplers.open(sampler.id), rows),
    })
    return context.futures.add('sample', drawing.then(responseOf))
  })
  return taken(requestId)
}
