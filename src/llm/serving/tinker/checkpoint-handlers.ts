import { pathOf, parsePath } from './checkpoints.ts'
import type { StoredCheckpoint } from './checkpoints.ts'
import type { Context, Handler } from './context.ts'
import { textOf } from './fields.ts'
import { refuse } from './refusal.ts'

function checkpointJson(checkpoint: StoredCheckpoint): Record<string, unknown> {
  const { kind, name, facts, bytes } = checkpoint
  return {
    checkpoint_id: `${kind}/${name}`,
    checkpoint_type: kind === 'weights' ? 'training' : 'sampler',
    time: facts.time,
    tinker_path: pathOf(checkpoint),
    size_bytes: bytes,
    public: false,
  }
}

/** Runs of this process and those that left checkpoints behind. */
function runs({ models, store }: Context): Record<string, unknown>[] {
  const stored = store.list()
  const live = models.list.map(({ id, baseModel, lora, made }) => ({
    id,
    facts: { baseModel: baseModel.name, loraRank: lora?.rank ?? 0, time: made },
  }))
  const ids = new Map(
    [...stored.map(({ model: id, facts }) => ({ id, facts })), ...live].map((run) => [run.id, run]),
  )
  return [...ids.values()].map(({ id, facts }) => {
    const own = stored.filter(({ model }) => model === id)
    const last = (kind: string) => own.findLast((checkpoint) => checkpoint.kind === kind)
    const [training, sampler] = [last('weights'), last('sampler_weights')]
    return {
      training_run_id: id,
      base_model: facts.baseModel,
      model_owner: 'default',
      is_lora: facts.loraRank > 0,
      lora_rank: facts.loraRank,
      corrupted: false,
      last_request_time: facts.time,
      last_checkpoint: training === undefined ? null : checkpointJson(training),
      last_sampler_checkpoint: sampler === undefined ? null : checkpointJson(sampler),
      user_metadata: null,
    }
  })
}

export const listRuns: Handler = ({ context, query }) => {
  const all = runs(context)
  const offset = Number(query.get('offset') ?? 0)
  const limit = Number(query.get('limit') ?? 20)
  return {
    json: {
      training_runs: all.slice(offset, offset + limit),
      cursor: { offset, limit, total_count: all.length },
    },
  }
}

export const getRun: Handler = ({ context, params }) => {
  const run = runs(context).find((each) => each['training_run_id'] === params['run'])
  if (run === undefined)
    throw refuse('tinker-not-found', 'There is no such training run', { given: params['run'] })
  return { json: run }
}

export const listCheckpoints: Handler = ({ context, params }) => ({
  json: { checkpoints: context.store.list(params['run']).map(checkpointJson) },
})

export const listAllCheckpoints: Handler = ({ context }) => {
  const checkpoints = context.store.list().map(checkpointJson)
  return {
    json: { checkpoints, cursor: { offset: 0, limit: checkpoints.length, total_count: checkpoints.length } },
  }
}

export const deleteCheckpoint: Handler = ({ context, params: { run, kind, name } }) => {
  const place = parsePath(`tinker://${run}/${kind}/${name}`)
  context.store.remove(place)
  context.samplers.changed(context.store.folder(place))
  return { status: 204 }
}

export const weightsInfo: Handler = ({ context, body }) => {
  const { facts } = context.store.read(parsePath(textOf(body, 'tinker_path')))
  return {
    json: {
      base_model: facts.baseModel,
      is_lora: facts.loraRank > 0,
      lora_rank: facts.loraRank,
      train_attn: facts.trainAttention,
      train_mlp: facts.trainMlp,
      train_unembed: facts.trainUnembedding,
    },
  }
}
