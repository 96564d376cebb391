import { apiPath } from '../../backend/tinker/wire.ts'
import { tokenizerId } from './models.ts'
import { pathOf, parsePath } from './checkpoints.ts'
import { taken } from './context.ts'
import type { Handler } from './context.ts'
import { countOf, optionalText, refuse, textOf } from './fields.ts'
import type { Sampler } from './sampling.ts'
import { readLoraConfig } from './training.ts'

/** The first request of the SDK. Clients ignore fields they do not know. */
export const clientConfig: Handler = () => ({
  json: {
    pjwt_auth_enabled: false,
    // Requests of one model run in order of arrival, so clients must send them in order.
    parallel_fwdbwd_chunks: false,
    proto_compress_fwdbwd: false,
    fwdbwd_max_chunk_len: 4096,
    fwdbwd_max_chunk_bytes_count: 16_000_000,
    sample_max_concurrent_requests: 512,
    use_pyqwest_transport: false,
    create_model_via_load_weights: false,
    agoge: { version: 1 },
  },
})

export const dynamicConfig: Handler = () => ({ json: { refresh_interval_sec: 300 } })

export const health: Handler = () => ({ json: { status: 'ok' } })

export const telemetry: Handler = () => ({ json: { status: 'accepted' } })

export const capabilities: Handler = ({ context }) => ({
  json: {
    supported_models: context.base.list.map(({ name, config }) => ({
      model_name: name,
      max_context_length: config.max_position_embeddings,
    })),
  },
})

export const root: Handler = ({ context }) => ({
  json: {
    name: 'Agoge',
    protocol: `Tinker, ${apiPath}`,
    models: context.base.list.map(({ name }) => name),
  },
})

export const createSession: Handler = ({ context }) => ({
  json: { type: 'create_session', session_id: context.sessions.open().id },
})

export const heartbeat: Handler = ({ context, body }) => {
  context.sessions.find(textOf(body, 'session_id'))
  return { json: { type: 'session_heartbeat' } }
}

export const createModel: Handler = ({ context, body }) => {
  const session = context.sessions.find(textOf(body, 'session_id'))
  const baseModel = context.base.find(textOf(body, 'base_model'))
  const lora = readLoraConfig(body, baseModel.config)
  // Early clients do not number their models.
  const number = countOf(body, 'model_seq_id', session.models.size)
  const before = session.models.get(number)
  const id = before?.id ?? `${session.id}-${number}`
  const facts = { model_id: id, base_model: baseModel.name, lora_config: body['lora_config'] ?? null }
  const make = async () => {
    await context.models.open({ id, session: session.id, baseModel, lora })
    return { type: 'create_model', ...facts }
  }
  const requestId = before?.requestId ?? context.futures.add('other', context.work.run(make))
  session.models.set(number, { id, requestId })
  return taken(requestId, { ...facts, status: 'created' })
}

export const unloadModel: Handler = ({ context, body }) => {
  const model = context.models.find(textOf(body, 'model_id'))
  const work = context.work.run(async () => {
    await context.models.close(model)
    return { type: 'unload_model', model_id: model.id, status: 'unloaded' }
  })
  return taken(context.futures.add('other', work), { model_id: model.id })
}

export const getInfo: Handler = ({ context, body }) => {
  const { id, baseModel, lora } = context.models.find(textOf(body, 'model_id'))
  return {
    json: {
      type: 'get_info',
      model_id: id,
      model_name: baseModel.name,
      status: 'created',
      is_lora: lora !== undefined,
      lora_rank: lora?.rank ?? 0,
      model_data: {
        arch: baseModel.config.model_type,
        base_model: baseModel.name,
        model_name: baseModel.name,
        tokenizer_id: tokenizerId(baseModel),
        lora_config: { rank: lora?.rank ?? 0 },
      },
    },
  }
}

export const createSamplingSession: Handler = ({ context, body }) => {
  const session = context.sessions.find(textOf(body, 'session_id'))
  const number = countOf(body, 'sampling_session_seq_id', undefined)
  const known = session.samplers.get(number)
  const id = known ?? `${session.id}-sampler-${number}`
  if (known === undefined) {
    addSampler(context, id, optionalText(body, 'model_path'), optionalText(body, 'base_model'))
    session.samplers.set(number, id)
  }
  return { json: { type: 'create_sampling_session', sampling_session_id: id } }
}

export const getSampler: Handler = ({ context, params }) => {
  const { id, baseModel, path } = context.samplers.find(params['sampler'])
  return { json: { sampler_id: id, base_model: baseModel.name, model_path: path ?? null } }
}

/** A sampler of stored weights or of a base model. */
export function addSampler(
  { samplers, store, base }: Parameters<Handler>[0]['context'],
  id: string,
  modelPath: string | undefined,
  baseModel: string | undefined,
): Sampler {
  if (modelPath === undefined) {
    if (baseModel === undefined)
      throw refuse('tinker-bad-request', 'It is not said what to sample from', {
        expected: 'model_path or base_model',
      })
    const sampler = { id, baseModel: base.find(baseModel) }
    samplers.add(sampler, { kind: 'base' })
    return sampler
  }
  const { facts, folder, ...place } = store.read(parsePath(modelPath))
  const sampler = { id, baseModel: base.find(facts.baseModel), path: pathOf(place) }
  samplers.add(sampler, { kind: 'stored', folder })
  return sampler
}
