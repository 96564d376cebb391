import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { readForeignObject } from '../../../untrusted/foreign-file.ts'
import type { Context, Handler } from './context.ts'
import { countOf, refuse, textOf } from './fields.ts'

export type CheckpointKind = 'weights' | 'sampler_weights'

/** A path in the store: `tinker://MODEL/KIND/NAME`. */
export interface CheckpointPlace {
  model: string
  kind: CheckpointKind
  name: string
}

/** What the store records about a checkpoint besides its weights. */
export interface CheckpointFacts {
  schema: 1
  baseModel: string
  loraRank: number
  trainAttention?: boolean
  trainMlp?: boolean
  trainUnembedding?: boolean
  time: string
}

export interface StoredCheckpoint extends CheckpointPlace {
  facts: CheckpointFacts
  folder: string
  bytes: number
}

export interface CheckpointStore {
  /** The folder of a path, whether or not it exists. */
  folder(place: CheckpointPlace): string
  has(place: CheckpointPlace): boolean
  /** Records a written checkpoint. Without the record, for instance after a crash, the checkpoint does not exist. */
  note(place: CheckpointPlace, facts: CheckpointFacts): void
  /** Throws `tinker-not-found`. */
  read(place: CheckpointPlace): StoredCheckpoint
  remove(place: CheckpointPlace): void
  /** Of one model or of all, oldest first. Throws `tinker-bad-request` for an invalid model name. */
  list(model?: string): StoredCheckpoint[]
}

const factsFile = 'tinker-checkpoint.json'
const plain = /^[A-Za-z0-9_.-]{1,200}$/

export const pathOf = ({ model, kind, name }: CheckpointPlace): string => `tinker://${model}/${kind}/${name}`

/** Whether it is a plain folder name: no path separator and no `..`. */
const valid = (part: string | undefined): part is string =>
  part !== undefined && plain.test(part) && !/^\.+$/.test(part)

/** Throws `tinker-bad-request` for an invalid path. */
export function parsePath(path: string): CheckpointPlace {
  const [model, kind, name, ...rest] = path.startsWith('tinker://') ? path.slice(9).split('/') : ['']
  if (valid(model) && valid(name) && rest.length === 0 && (kind === 'weights' || kind === 'sampler_weights'))
    return { model, kind, name }
  throw refuse('tinker-bad-request', 'That is no path of a checkpoint', {
    given: path,
    expected: 'tinker://MODEL/weights/NAME or tinker://MODEL/sampler_weights/NAME',
  })
}

/** Stores checkpoints in folders, which outlive the server. */
export function openCheckpointStore(root: string): CheckpointStore {
  const home = resolve(root)
  mkdirSync(home, { recursive: true })
  const folder = ({ model, kind, name }: CheckpointPlace): string => join(home, model, kind, name)
  const file = (place: CheckpointPlace): string => join(folder(place), factsFile)
  const has = (place: CheckpointPlace): boolean => existsSync(file(place))

  function read(place: CheckpointPlace): StoredCheckpoint {
    if (!has(place)) throw refuse('tinker-not-found', 'There is no such checkpoint', { given: pathOf(place) })
    const facts = readForeignObject(file(place), 'unusable-path') as unknown as CheckpointFacts
    const where = folder(place)
    const bytes = readdirSync(where).reduce((sum, each) => sum + statSync(join(where, each)).size, 0)
    return { ...place, facts, folder: where, bytes }
  }

  const names = (...path: string[]): string[] => {
    const where = join(home, ...path)
    return existsSync(where) ? readdirSync(where).filter((name) => plain.test(name)) : []
  }

  return {
    folder,
    has,
    note(place, facts) {
      mkdirSync(folder(place), { recursive: true })
      writeFileSync(file(place), `${JSON.stringify(facts, null, 2)}\n`)
    },
    read,
    remove(place) {
      read(place)
      rmSync(folder(place), { recursive: true, force: true })
    },
    list(only) {
      if (only !== undefined && !valid(only))
        throw refuse('tinker-bad-request', 'That is no name of a model', {
          given: only,
          expected: 'up to 200 letters, digits, dots, - and _',
        })
      return (only === undefined ? names() : [only])
        .flatMap((model) =>
          (['weights', 'sampler_weights'] as const).flatMap((kind) =>
            names(model, kind).map((name) => ({ model, kind, name })),
          ),
        )
        .filter(has)
        .map(read)
        .sort((a, b) => (a.facts.time < b.facts.time ? -1 : 1))
    },
  }
}

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

/** Models of this process and of checkpoints from earlier ones. */
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
  const bound = (name: string, otherwise: number): number => {
    const given = query.get(name)
    return countOf({ [name]: given !== null && /^\d+$/.test(given) ? Number(given) : given }, name, otherwise)
  }
  const [offset, limit] = [bound('offset', 0), bound('limit', 20)]
  const all = runs(context)
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
