import { pathOf, parsePath } from './checkpoints.ts'
import type { CheckpointFacts, CheckpointPlace } from './checkpoints.ts'
import { taken } from './context.ts'
import type { Call, Context, Handler } from './context.ts'
import { readLossRequest } from './datums.ts'
import { fieldsOf, flagOf, nameOf, optionalCount, optionalFields, textOf } from './fields.ts'
import type { ResultKind } from './futures.ts'
import { refuse } from './refusal.ts'
import type { ServedModel } from './served-models.ts'
import { once } from './sessions.ts'
import { readAdamParams, runForward, runForwardBackward } from './training.ts'

/** Takes work of a model in, once for each sequence number. `prepare` checks the request, so that what cannot be done is refused at once. */
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

export const forwardBackward: Handler = (call) =>
  numbered(call, 'forward_backward', ({ backend }) => {
    const request = readLossRequest(fieldsOf(call.body['forward_backward_input'], 'forward_backward_input'))
    const wanted = optionalFields(call.body, 'agoge')
    const logprobs = wanted === undefined || flagOf(wanted, 'logprobs', true)
    return call.forwardOnly
      ? () => runForward(backend, request)
      : () => runForwardBackward(backend, request, logprobs)
  })

export const forward: Handler = (call) =>
  numbered(call, 'forward_backward', ({ backend }) => {
    const request = readLossRequest(fieldsOf(call.body['forward_input'], 'forward_input'))
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

/** A place that is free, or may be written over. */
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
      // What was cached changes the last digits of samples: a new session begins as a new process would.
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
