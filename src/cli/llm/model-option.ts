import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { defined } from '../../defined.ts'
import { createChatActor } from '../../llm/agent/chat-actor.ts'
import { createLocalActor } from '../../llm/agent/local-actor.ts'
import { createOpenAIActor, endpointUrl } from '../../llm/agent/openai-actor.ts'
import { readChatModel } from '../../llm/agent/chat-format/open-format.ts'
import type { Actor } from '../../llm/agent/types.ts'
import type { EpisodeLimits } from '../../llm/agent/episode-state.ts'
import { AgogeError } from '../../error.ts'
import { weightsGone } from '../../runs/checksums.ts'
import { checked, hidingKey, parsed, receivedText, redacted } from '../../untrusted/untrusted.ts'
import { publicLimits, publicTurn } from '../../llm/training/defaults.ts'
import { baseModelFolder, modelFolder } from '../../llm/checkpoint/checkpoint.ts'
import { loadModel, requireModel } from '../../llm/backend/base-model.ts'
import type { SamplingWeights } from '../../llm/sampling/quantised-weights.ts'
import type { Console } from '../shared/console.ts'
import { listRuns, runKind, trainedEnvironment } from '../shared/runs.ts'

/** A model from the command line, ready to act. */
export interface OpenedModel {
  name: string
  /** As typed on the command line. */
  given: string
  /** True if it runs elsewhere, with its own context window. */
  remote: boolean
  /** Context window in tokens, for a public checkpoint. */
  window?: number
  /** The environment that a run was trained on; undefined for a base model or an endpoint. */
  trainedOn?: string
  actor: Actor
  dispose(): Promise<void>
}

export interface ModelOptions {
  /** Default: 0 for a model in this process; an endpoint uses its own. */
  seed?: number | undefined
  /** Default: 0 (greedy) for a model in this process; an endpoint uses its own. */
  temperature?: number | undefined
  /** Only for a model in this process. */
  maxTokensPerTurn: number
  /** Whether a grammar constrains calls to the schemas of the tools. */
  constrained?: boolean
  /** Of a model in this process. */
  samplingWeights?: SamplingWeights
  /** The environment variable with the endpoint's key. */
  apiKeyVariable?: string
  /** Seconds that one answer of an endpoint may take. */
  timeoutSeconds?: number
  /** Receives warnings about settings that an endpoint refuses. Default: prints them. */
  onNotice?: (text: string) => void
}

/**
 * Opens the model of `--model`: a run or checkpoint folder, or `URL#NAME` of an OpenAI-compatible endpoint (`#NAME` is
 * optional if the endpoint serves one model). Default: the model of the last run, else the base model.
 */
export async function openModel(
  given: string | undefined,
  options: ModelOptions,
  terminal: Console,
): Promise<OpenedModel> {
  if (given !== undefined && isEndpoint(given)) {
    if (options.constrained === true) throw notConstrained(given)
    if (options.samplingWeights !== undefined) throw samplesElsewhere(given)
    return openEndpoint(given, options, terminal)
  }
  const { named, folder } = findModel(given)
  // A checkpoint lies in the folder `checkpoints` of its run.
  const trainedOn = trainedEnvironment(named) ?? trainedEnvironment(join(named, '..', '..'))
  const chat = await readChatModel(folder)
  if (chat !== undefined && options.constrained === true) throw notConstrained(folder)
  const { backend, tokenizer } = await loadModel(
    folder,
    options.samplingWeights && { samplingWeights: options.samplingWeights },
  )
  const { seed = 0, temperature = 0, constrained = false } = options
  const maxTokensPerTurn =
    chat === undefined ? options.maxTokensPerTurn : publicTurn(options.maxTokensPerTurn, chat.window)
  const common = { backend, sampling: { temperature }, seed, maxTokensPerTurn }
  return {
    name: given ?? folder,
    given: given ?? folder,
    remote: false,
    ...defined({ trainedOn }),
    ...(chat === undefined ? {} : { window: chat.window }),
    actor:
      chat === undefined
        ? createLocalActor({ ...common, tokenizer, constrained })
        : createChatActor({ ...common, ...chat }),
    dispose: () => backend.dispose(),
  }
}

/** True if a model's name is the address of an endpoint. */
export const isEndpoint = (given: string): boolean => /^https?:\/\//.test(given)

/**
 * Limits for a model. The small model's window does not apply to other models. Each answer of an endpoint has its own
 * deadline. The episode has none, because it waits for all answers of its batch.
 */
export function limitsFor({ remote, window }: OpenedModel, limits: EpisodeLimits): EpisodeLimits {
  if (window !== undefined) return publicLimits(limits, window)
  if (!remote) return limits
  const { turns, toolDeadlineSeconds } = limits
  return { turns, toolDeadlineSeconds, deadlineSeconds: Infinity }
}

function notConstrained(given: string): AgogeError {
  return new AgogeError(`Calls of ${given} cannot be held to schemas.`, {
    code: 'not-constrained',
    given,
    expected: 'a model trained by agoge, in whose format calls stand by themselves',
    hint: 'leave --constrained out; `agoge serve` holds calls that a request demands to their schema',
  })
}

function samplesElsewhere(given: string): AgogeError {
  return new AgogeError(`${given} samples with weights of its own.`, {
    code: 'bad-option',
    given: `--sampling-weights with ${given}`,
    expected: 'a model in a folder',
    hint: 'leave --sampling-weights out, or give it to the `agoge serve` that serves the model',
  })
}

/** Returns the folder of a model from the command line; see `openModel`. */
export function findModel(given: string | undefined): { named: string; folder: string; given: string } {
  const named = given ?? lastTrained() ?? requireModel(baseModelFolder)
  const folder = modelFolder(named)
  if (!existsSync(folder)) {
    throw new AgogeError(`There is no model in ${folder}.`, {
      code: 'unknown-model',
      given,
      expected: 'a run folder, a checkpoint folder, or the URL of an OpenAI-compatible endpoint',
    })
  }
  const environment = trainedEnvironment(named)
  if (folder === named && environment !== undefined) throw noModelYet(named, environment)
  return { named, folder, given: given ?? named }
}

/** A run of classic RL has a network; a language-model run has a model once it is finished. */
function noModelYet(run: string, environment: string): AgogeError {
  const isArray = isClassic(run)
  if (!isArray && isFinished(run)) return weightsGone(run)
  return new AgogeError(
    isArray
      ? `The run in ${run} trained a network for ${environment}, which has no words.`
      : `The run in ${run} is not finished: it has no trained model yet.`,
    {
      code: 'unknown-model',
      given: run,
      expected: 'a finished run on an environment with tasks in words, or one of its checkpoints',
      hint: isArray
        ? `To see it act: agoge play ${environment} --model ${run}`
        : `Resume it (agoge train --resume ${run}), or name a checkpoint in ${join(run, 'checkpoints')}`,
    },
  )
}

const isClassic = (run: string): boolean => ['array', 'seeds'].includes(runKind(run) ?? '')

const isFinished = (run: string): boolean => existsSync(join(run, 'summary.json'))

function lastTrained(): string | undefined {
  // A run that has lost its model is reported, not silently replaced by another.
  return listRuns().find((run) => modelFolder(run) !== run || (!isClassic(run) && isFinished(run)))
}

async function openEndpoint(
  given: string,
  options: ModelOptions,
  { signal, err }: Console,
): Promise<OpenedModel> {
  const { baseUrl, model } = await readEndpoint(given, '--model', options, signal)
  const { apiKeyVariable, timeoutSeconds, temperature, seed, onNotice = err } = options
  return {
    name: model,
    given,
    remote: true,
    actor: createOpenAIActor({
      baseUrl,
      model,
      // Unset settings are not sent, because many models refuse them.
      ...defined({ temperature, seed }),
      onNotice,
      ...defined({ apiKeyVariable, timeoutSeconds }),
    }),
    dispose: async () => {},
  }
}

/**
 * The address and the model of `URL#NAME`, as the value of an option. Without `#NAME` the endpoint is asked for its only model.
 *
 * @throws AgogeError if it is not an address, or the endpoint has several models or does not list them.
 */
export async function readEndpoint(
  given: string,
  option: string,
  { apiKeyVariable }: Pick<ModelOptions, 'apiKeyVariable'>,
  signal: AbortSignal,
): Promise<{ baseUrl: string; model: string }> {
  const [baseUrl, ...rest] = given.split('#')
  const endpoint = endpointUrl(baseUrl)
  const model =
    rest.length > 0
      ? rest.join('#')
      : await onlyModel(endpoint, `${option} ${baseUrl}`, apiKeyVariable, signal)
  return { baseUrl, model }
}

/** @param typed the option with the address, for the hint. */
async function onlyModel(
  endpoint: URL,
  typed: string,
  apiKeyVariable: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  const listing = new URL(endpoint)
  listing.pathname = endpoint.pathname.replace(/chat\/completions$/, 'models')
  const address = `${listing.origin}${listing.pathname}`
  const key = process.env[apiKeyVariable ?? 'OPENAI_API_KEY']
  const ask = async (): Promise<string[]> => {
    const reply = await fetch(listing, {
      signal: AbortSignal.any([signal, AbortSignal.timeout(20_000)]),
      ...(key === undefined ? {} : { headers: { authorization: `Bearer ${key}` } }),
    })
    if (!reply.ok) throw new Error(`HTTP status ${reply.status}`)
    const listed = checked(parsed(await receivedText(reply, mostListed)), modelNames)
    return redacted(listed, hidingKey(key))
  }
  const names = await ask().catch((cause: unknown) => {
    signal.throwIfAborted()
    throw new AgogeError(`${address} does not say which models there are.`, {
      code: 'unknown-model',
      given: cause instanceof Error ? cause.message : cause,
      expected: 'the list of an OpenAI-compatible endpoint',
      hint: `Check the address, or name the model: ${typed}#NAME`,
      cause,
    })
  })
  if (names.length === 1) return names[0]
  throw new AgogeError(`${endpoint.origin} serves ${names.length} models.`, {
    code: 'unknown-model',
    given: names.slice(0, 12).join(', '),
    expected: 'the name of one',
    hint: `Name it after a #: ${typed}#${names[0] ?? 'NAME'}`,
  })
}

/** Longest list of models that is read, in bytes. */
const mostListed = 10_000_000

function modelNames(listed: unknown): string[] {
  const data = typeof listed === 'object' && listed !== null && 'data' in listed ? listed.data : undefined
  if (!Array.isArray(data)) return []
  return data.flatMap((entry: unknown) =>
    typeof entry === 'object' && entry !== null && 'id' in entry && typeof entry.id === 'string'
      ? [entry.id]
      : [],
  )
}
