import { AgogeError } from '../../error.ts'
import type { CallOptions } from '../agent/ai-sdk/read-call.ts'
import { changeCall, originalName } from './change-call.ts'
import { checkpointModels } from './checkpoint-models.ts'
import { firstRequest, routeOf } from './routing.ts'
import { type AgentSetup, checkSetup, readSetup } from './setup.ts'
import { type Answer, type Ask, askWith, type Verify } from './test-time.ts'

/** A model object of the AI SDK, of any version. */
export interface CallableModel {
  readonly specificationVersion: string
  readonly provider: string
  readonly modelId: string
  doGenerate: (options: never) => PromiseLike<unknown>
  doStream: (options: never) => PromiseLike<unknown>
}

/** Settings of `withSetup`. */
export interface WithSetupOptions {
  /** The models that the setup names, for a choice of the model, routing, or a judge. Default: those of its own checkpoints. */
  models?: Readonly<Record<string, CallableModel>>
  /** Says what is wrong with an answer, for a setup that asks again. Calls that do not fit their tools are found without it. */
  verify?: Verify
}

/**
 * A model object whose calls are changed by a setup of `agoge optimise`: this line brings what was found into a program. The agent itself stays as it is.
 *
 * @param setup the file, or its contents.
 * @throws AgogeError `bad-setup` if it cannot be used, `unknown-model` if it names a model that `models` lacks.
 * @example
 * const model = withSetup(openai('gpt-5-mini'), 'agoge.setup.json')
 */
export function withSetup<Model extends CallableModel>(
  model: Model,
  setup: AgentSetup | string,
  { models: given = {}, verify }: WithSetupOptions = {},
): Model {
  const read = typeof setup === 'string' ? readSetup(setup) : checkSetup(setup)
  const models = { ...checkpointModels(read, Object.keys(given)), ...given }
  for (const name of namesIn(read)) if (!Object.hasOwn(models, name)) throw unknownModel(name, models)
  const { testTime } = read
  const chosen = (options: CallOptions): Callable =>
    (read.routing !== undefined
      ? models[routeOf(firstRequest(options), read.routing)]
      : read.model !== undefined
        ? models[read.model]
        : model) as unknown as Callable

  async function generate(given: CallOptions): Promise<Answer> {
    const target = chosen(given)
    const ask: Ask = (options) => target.doGenerate(options)
    const options = changeCall(given, read)
    const answer =
      testTime === undefined
        ? await ask(options)
        : await askWith(testTime, options, ask, {
            model: (name) => (asked) => (models[name] as unknown as Callable).doGenerate(asked),
            ...(verify && { verify }),
          })
    return { ...answer, content: answer.content.map((part) => unnamed(part, read)) }
  }

  const { specificationVersion, provider, modelId } = model
  const { supportedUrls = {} } = model as { supportedUrls?: unknown }
  const changed = {
    specificationVersion,
    provider,
    modelId,
    supportedUrls,
    doGenerate: generate,
    async doStream(given: CallOptions) {
      if (testTime !== undefined) return { stream: streamOf(await generate(given)) }
      const result = await chosen(given).doStream(changeCall(given, read))
      return { ...result, stream: result.stream.pipeThrough(eachPart((part) => unnamed(part, read))) }
    },
  }
  return changed as unknown as Model
}

interface Part {
  type: string
  [field: string]: unknown
}

interface Callable {
  doGenerate: Ask
  doStream: (options: CallOptions) => PromiseLike<{ stream: ReadableStream<Part>; [field: string]: unknown }>
}

/** The models that a setup names. */
export function namesIn({ model, routing, testTime }: AgentSetup): string[] {
  return [
    ...(model === undefined ? [] : [model]),
    ...Object.keys(routing?.models ?? {}),
    ...(testTime?.method === 'best' ? [testTime.judge] : []),
  ]
}

function unknownModel(name: string, models: object): AgogeError {
  const known = Object.keys(models)
  return new AgogeError(`the setup names the model "${name}"`, {
    code: 'unknown-model',
    given: `models: ${known.length === 0 ? 'none' : known.join(', ')}`,
    expected: `a model of that name, as in withSetup(model, setup, { models: { '${name}': ... } })`,
  })
}

/** A part of an answer with the agent's own name of the tool. */
const unnamed = (part: Part, setup: AgentSetup): Part =>
  typeof part['toolName'] === 'string' ? { ...part, toolName: originalName(part['toolName'], setup) } : part

const eachPart = (change: (part: Part) => Part): TransformStream<Part, Part> =>
  new TransformStream({ transform: (part, controller) => controller.enqueue(change(part)) })

/** A whole answer as a stream, for methods that know it only at the end. */
function streamOf({
  content,
  finishReason,
  usage,
  providerMetadata,
  warnings = [],
}: Answer): ReadableStream<Part> {
  const parts = content.flatMap((part, at): Part[] => {
    const id = String(at)
    if (part.type !== 'text' && part.type !== 'reasoning') return [part]
    return [
      { type: `${part.type}-start`, id },
      { type: `${part.type}-delta`, id, delta: part['text'] },
      { type: `${part.type}-end`, id },
    ]
  })
  return ReadableStream.from<Part>([
    { type: 'stream-start', warnings },
    ...parts,
    { type: 'finish', finishReason, usage, ...(providerMetadata !== undefined && { providerMetadata }) },
  ])
}
