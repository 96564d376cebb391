import { existsSync } from 'node:fs'
import { readCheckpoint } from '../../language/index.ts'
import type { LocalBackend } from '../../language/index.ts'
import type { BaseModel, BaseModels } from './base-models.ts'
import { refuse } from './refusal.ts'

/** Whatever is trained: its weights may be sampled from as long as they stand still. */
export interface LiveModel {
  baseModel: BaseModel
  backend: LocalBackend
}

/** Where the weights of a sampler are; those of a model that moved on are copied first. */
type Source =
  | { kind: 'base' }
  | { kind: 'live'; model: LiveModel }
  | { kind: 'copy'; data: Float32Array }
  | { kind: 'stored'; folder: string }
  | { kind: 'gone' }

export interface Sampler {
  id: string
  baseModel: BaseModel
  path?: string
}

export interface Samplers {
  add(sampler: Sampler, source: Exclude<Source, { kind: 'copy' | 'gone' }>): void
  /** Throws `tinker-not-found`. */
  find(id: string): Sampler
  /** To be called before the weights of a model change or are let go of: its samplers keep those that they have. */
  freeze(model: LiveModel): void
  /** To be called when something else, or nothing, lies in a folder: whoever samples from there reads it again. */
  changed(folder: string): void
  /** A backend with the weights of a sampler. Only one at a time of each base model, so used within one piece of work. */
  backend(id: string): Promise<LocalBackend>
  dispose(): Promise<void>
}

/** A backend that takes the weights of one sampler after another. */
interface Holder {
  backend: LocalBackend
  /** Whose it has: `base`, the folder of a checkpoint, or the id of a sampler. */
  holds: string | undefined
}

/** Copies of weights of models that moved on; asynchronous training needs a few, no more. Of large models fewer, but the last one always. */
const mostCopies = 8
const mostBytes = 2 ** 30

export function createSamplers(models: BaseModels): Samplers {
  const samplers = new Map<string, { sampler: Sampler; source: Source }>()
  const spare = new Map<BaseModel, Holder>()

  function entryOf(id: string) {
    const entry = samplers.get(id)
    if (entry !== undefined) return entry
    throw refuse('tinker-not-found', 'There is no such sampling session', {
      given: id,
      hint: 'The server may have been restarted: save the weights for sampling again.',
    })
  }

  async function spareBackend(baseModel: BaseModel): Promise<Holder> {
    const known = spare.get(baseModel)
    if (known !== undefined) return known
    const made = { backend: await models.open(baseModel), holds: 'base' }
    spare.set(baseModel, made)
    return made
  }

  async function weightsOf(source: Source, baseModel: BaseModel): Promise<Float32Array> {
    if (source.kind === 'copy') return source.data
    const folder = source.kind === 'stored' ? source.folder : baseModel.folder
    return (await readCheckpoint(folder)).parameters.data
  }

  return {
    add(sampler, source) {
      samplers.set(sampler.id, { sampler, source })
    },
    find: (id) => entryOf(id).sampler,
    freeze(model) {
      const live = [...samplers.values()].filter(
        ({ source }) => source.kind === 'live' && source.model === model,
      )
      if (live.length === 0) return
      const source: Source = { kind: 'copy', data: model.backend.parameters.data.slice() }
      for (const entry of live) entry.source = source
      const copies = [...samplers.values()].filter((entry) => entry.source.kind === 'copy')
      const room = Math.max(1, Math.floor(mostBytes / source.data.byteLength))
      const kept = new Set(
        [...new Set(copies.map((entry) => entry.source))].slice(-Math.min(mostCopies, room)),
      )
      for (const entry of copies) if (!kept.has(entry.source)) entry.source = { kind: 'gone' }
    },
    changed(folder) {
      for (const holder of spare.values()) if (holder.holds === folder) holder.holds = undefined
    },
    async backend(id) {
      const { sampler, source } = entryOf(id)
      if (source.kind === 'live') return source.model.backend
      if (source.kind === 'gone') {
        throw refuse('tinker-gone', 'The weights of this sampling session are gone', {
          given: id,
          expected: `one of the last ${mostCopies} that were saved for sampling`,
          hint: 'Save weights under a name to sample from them later.',
        })
      }
      if (source.kind === 'stored' && !existsSync(source.folder)) {
        const given = sampler.path
        throw refuse('tinker-not-found', 'The checkpoint of this sampling session was deleted', { given })
      }
      const holder = await spareBackend(sampler.baseModel)
      const holds = source.kind === 'base' ? 'base' : source.kind === 'stored' ? source.folder : id
      if (holder.holds !== holds) {
        holder.backend.parameters.data.set(await weightsOf(source, sampler.baseModel))
        holder.backend.weightsChanged()
        holder.holds = holds
      }
      return holder.backend
    },
    async dispose() {
      await Promise.all([...spare.values()].map(({ backend }) => backend.dispose()))
    },
  }
}
