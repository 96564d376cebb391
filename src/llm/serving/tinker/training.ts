import { forwardBackward } from '../../backend/custom-loss.ts'
import type { LocalBackend } from '../../backend/local-backend.ts'
import { scoreSequences } from '../../backend/loss-report.ts'
import type { ForwardBackwardOutput } from '../../backend/tinker/wire.ts'
import { reportMetrics } from '../../backend/tinker/loss-requests.ts'
import type { TransformerConfig } from '../../model/config.ts'
import type { OptimStep } from '../../model-backend.ts'
import { type CheckpointFacts, type CheckpointPlace, parsePath, pathOf } from './checkpoints.ts'
import { type Call, type Context, type Handler, once, taken } from './context.ts'
import {
  countOf,
  type Fields,
  fieldsOf,
  flagOf,
  nameOf,
  numberOf,
  optionalCount,
  optionalFields,
  refuse,
  textOf,
} from './fields.ts'
import type { ResultKind } from './futures.ts'
import { engineLoss, type LossRequest } from './losses.ts'
import type { ServedModel } from './models.ts'

function outputOf(
  logprobs: readonly Float32Array[] | undefined,
  metrics: Record<string, number>,
): ForwardBackwardOutput {
  const outputs = logprobs?.map((values) => ({
    logprobs: { data: values.subarray(1), dtype: 'float32' as const, shape: [values.length - 1] },
  }))
  return { loss_fn_output_type: 'ArrayRecord', loss_fn_outputs: outputs ?? [], metrics }
}

/** A pass without gradient: log-probabilities of the targets, and the loss. */
export async function runForward(
  backend: LocalBackend,
  request: LossRequest,
): Promise<ForwardBackwardOutput> {
  const { value } = engineLoss(request.lossFn, request.config)
  const logprobs = await scoreSequences(backend, request.sequences)
  return outputOf(logprobs, { 'loss:sum': value(logprobs, request.sequences) })
}

/** A pass with gradient. The protocol also wants log-probabilities, which cost a second forward pass. */
export async function runForwardBackward(
  backend: LocalBackend,
  request: LossRequest,
  wantsLogprobs: boolean,
): Promise<ForwardBackwardOutput> {
  const { loss } = engineLoss(request.lossFn, request.config)
  let logprobs: Float32Array[] | undefined
  if (wantsLogprobs) logprobs = await scoreSequences(backend, request.sequences)
  const known = logprobs
  const learner: Pick<LocalBackend, 'forward' | 'forwardBackward'> = {
    // A loss that is not built into the engine starts with the same forward pass.
    forward: async (tokens, options) => known ?? backend.forward(tokens, options),
    forwardBackward: (rows, settings) => backend.forwardBackward(rows, settings),
  }
  const report = await forwardBackward(learner, request.sequences, loss)
  return outputOf(logprobs, reportMetrics(report))
}

/** Validated `adam_params`, with the defaults of the protocol. */
export function readAdamParams(body: Fields): OptimStep {
  const params = fieldsOf(body['adam_params'], 'adam_params')
  const clip = numberOf(params, 'grad_clip_norm', 0, 0)
  const optimizer = params['optimizer'] == null ? 'adamw' : textOf(params, 'optimizer')
  if (optimizer !== 'adamw' && optimizer !== 'muon')
    throw refuse('tinker-bad-request', 'There is no such optimiser', {
      given: optimizer,
      expected: 'adamw or muon',
    })
  return {
    learningRate: numberOf(params, 'learning_rate', 1e-4, 0),
    beta1: below1(params, 'beta1', 0.9),
    beta2: below1(params, 'beta2', 0.95),
    epsilon: numberOf(params, 'eps', 1e-12, 0),
    weightDecay: numberOf(params, 'weight_decay', 0, 0),
    optimizer,
    ...(clip === 0 ? {} : { clip }),
  }
}

function below1(params: Fields, name: string, otherwise: number): number {
  const value = numberOf(params, name, otherwise, 0)
  if (value < 1) return value
  throw refuse('tinker-bad-request', `The field ${name} is wrong`, {
    given: value,
    expected: 'a number below 1',
  })
}

/** `lora_config`: rank 0, or none, trains all weights. */
export function readLoraConfig(body: Fields, { hidden_size, intermediate_size }: TransformerConfig) {
  if (body['lora_config'] === undefined || body['lora_config'] === null) return undefined
  const config = fieldsOf(body['lora_config'], 'lora_config')
  const rank = countOf(config, 'rank', undefined)
  if (rank === 0) return undefined
  const most = Math.max(hidden_size, intermediate_size)
  if (rank > most)
    throw refuse('tinker-bad-request', 'The field rank is wrong', {
      given: rank,
      expected: `at most ${most}, the width of the model: more has no effect and takes memory`,
    })
  const flag = (name: string): boolean => flagOf(config, name, true)
  return {
    rank,
    seed: countOf(config, 'seed', 0),
    trainAttention: flag('train_attn'),
    trainMlp: flag('train_mlp'),
    trainUnembedding: flag('train_unembed'),
  }
}

/** Accepts work of a model, once per sequence number. `prepare` validates the request, so that invalid ones are refused at once. */
function numbered(
  { context, body, digest }: Call,
  kind: ResultKind,
  prepare: (model: ServedModel, number: number | undefined) => () => Promise<unknown>,
): ReturnType<typeof taken> {
  const model = context.models.find(textOf(body, 'model_id'))
  const number = optionalCount(body, 'seq_id')
  const requestId = once(model.requests, number, digest, () =>
    context.futures.add(kind, context.work.run(prepare(model, number))),
  )
  return taken(requestId, { model_id: model.id })
}

/** The input of a request that computes a loss: its body was read by `loss-body.ts`. */
function lossOf({ loss }: Call): { request: LossRequest; forwardOnly: boolean } {
  if (loss === undefined) throw new Error('the body of this call was read as that of another')
  if ('refused' in loss) throw loss.refused
  return loss
}

export const forwardBackwardCall: Handler = (call) =>
  numbered(call, 'forward_backward', ({ backend }) => {
    const { request, forwardOnly } = lossOf(call)
    const wanted = optionalFields(call.body, 'agoge')
    const logprobs = wanted === undefined || flagOf(wanted, 'logprobs', true)
    return forwardOnly
      ? () => runForward(backend, request)
      : () => runForwardBackward(backend, request, logprobs)
  })

export const forwardCall: Handler = (call) =>
  numbered(call, 'forward_backward', ({ backend }) => {
    const { request } = lossOf(call)
    return () => runForward(backend, request)
  })

export const optimStep: Handler = (call) =>
  numbered(call, 'other', (model) => {
    const step = readAdamParams(call.body)
    return async () => {
      call.context.samplers.freeze(model)
      const { gradientNorm } = await model.backend.optimStep(step)
      return { type: 'optim_step', metrics: { grad_norm: gradientNorm } }
    }
  })

const factsOf = ({ baseModel, lora }: ServedModel): CheckpointFacts => ({
  schema: 1,
  baseModel: baseModel.name,
  loraRank: lora?.rank ?? 0,
  trainAttention: lora?.trainAttention ?? true,
  trainMlp: lora?.trainMlp ?? true,
  trainUnembedding: lora?.trainUnembedding ?? true,
  time: new Date().toISOString(),
})

/** A path that is free or may be overwritten. */
function freePlace(
  { store }: Context,
  model: ServedModel,
  kind: CheckpointPlace['kind'],
  name: string,
  overwrite = false,
): CheckpointPlace {
  const place = { model: model.id, kind, name }
  if (overwrite || !store.has(place)) return place
  throw refuse('tinker-conflict', 'There is a checkpoint of that name', {
    given: pathOf(place),
    expected: 'a new name, or overwrite: true',
  })
}

export const saveWeights: Handler = (call) =>
  numbered(call, 'other', (model, number) => {
    const { context, body } = call
    const name = nameOf(body, 'path') ?? `checkpoint-${number ?? Date.now()}`
    const place = freePlace(context, model, 'weights', name, flagOf(body, 'overwrite', false))
    return async () => {
      await model.backend.save(context.store.folder(place))
      context.store.note(place, factsOf(model))
      context.samplers.changed(context.store.folder(place))
      return { type: 'save_weights', path: pathOf(place) }
    }
  })

export const saveWeightsForSampler: Handler = (call) =>
  numbered(call, 'other', (model) => {
    const { context, body } = call
    const name = nameOf(body, 'path')
    const session = context.sessions.find(model.session)
    const sampler = optionalCount(body, 'sampling_session_seq_id')
    if (name !== undefined) {
      const place = freePlace(context, model, 'sampler_weights', name)
      return async () => {
        await model.backend.export(context.store.folder(place))
        context.store.note(place, factsOf(model))
        context.samplers.changed(context.store.folder(place))
        return { type: 'save_weights_for_sampler', path: pathOf(place) }
      }
    }
    if (sampler === undefined)
      throw refuse('tinker-bad-request', 'It is not said where to', {
        expected: 'path or sampling_session_seq_id',
      })
    const wanted = optionalFields(body, 'agoge')
    const apart = wanted !== undefined && flagOf(wanted, 'apart', false)
    return async () => {
      const id = `${session.id}-sampler-${sampler}`
      session.samplers.set(sampler, id)
      context.samplers.add({ id, baseModel: model.baseModel }, { kind: 'live', model })
      if (apart) context.samplers.freeze(model)
      // Caches change the last digits of samples: a new session starts like a new process.
      model.backend.clearCache()
      return { type: 'save_weights_for_sampler', sampling_session_id: id }
    }
  })

export const loadWeights: Handler = (call) => {
  if (call.body['model_id'] == null) {
    throw refuse('tinker-bad-request', 'Models are made by create_model here', {
      given: 'load_weights without model_id',
      expected: 'create_model, then load_weights with its model_id',
    })
  }
  return numbered(call, 'other', (model) => {
    const { context, body } = call
    const { folder, facts } = context.store.read(parsePath(textOf(body, 'path')))
    const withOptimizer = flagOf(body, 'optimizer', true)
    const rank = model.lora?.rank ?? 0
    if (facts.loraRank !== rank) {
      throw refuse('tinker-bad-request', 'The checkpoint is of another kind of training', {
        given: `LoRA rank ${facts.loraRank}`,
        expected: `LoRA rank ${rank}, as the model was made with`,
      })
    }
    return async () => {
      context.samplers.freeze(model)
      await model.backend.load(folder)
      if (!withOptimizer) model.backend.resetOptimizer()
      return { type: 'load_weights', path: textOf(body, 'path'), model_id: model.id }
    }
  })
}
