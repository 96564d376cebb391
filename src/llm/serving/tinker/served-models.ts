import type { LocalBackend } from '../../backend/local-backend.ts'
import type { BaseModel, BaseModels, LoraWish } from './base-models.ts'
import { refuse } from './refusal.ts'
import type { LiveModel } from './samplers.ts'

/** A model that a client trains. */
export interface ServedModel extends LiveModel {
  id: string
  session: string
  baseModel: BaseModel
  lora: LoraWish | undefined
  backend: LocalBackend
  made: string
  lastRequest: number
  /** What was asked under which number, so that a request that comes twice is carried out once. */
  requests: Map<number, { digest: string; requestId: string }>
}

export interface ServedModels {
  readonly list: readonly ServedModel[]
  /** Throws `tinker-not-found`. */
  find(id: string): ServedModel
  open(fields: {
    id: string
    session: string
    baseModel: BaseModel
    lora: LoraWish | undefined
  }): Promise<ServedModel>
  close(model: ServedModel): Promise<void>
  dispose(): Promise<void>
}

/**
 * Models in memory, at most so many. Where one more is wanted, that which was silent for longest gives way, if its session is
 * not alive any more.
 */
export function createServedModels(
  base: BaseModels,
  {
    most,
    isZeroVariance,
    onClose,
  }: { most: number; isZeroVariance: (session: string) => boolean; onClose: (model: ServedModel) => void },
): ServedModels {
  const models = new Map<string, ServedModel>()

  async function close(model: ServedModel): Promise<void> {
    if (!models.delete(model.id)) return
    onClose(model)
    await model.backend.dispose()
  }

  return {
    get list() {
      return [...models.values()]
    },
    find(id) {
      const found = models.get(id)
      if (found !== undefined) {
        found.lastRequest = performance.now()
        return found
      }
      throw refuse('tinker-not-found', 'There is no such model', {
        given: id,
        hint: 'The server may have been restarted, or have let go of it: make a model and load the last checkpoint.',
      })
    },
    async open({ id, session, baseModel, lora }) {
      const zeroVariance = [...models.values()]
        .filter((model) => isZeroVariance(model.session))
        .sort((a, b) => a.lastRequest - b.lastRequest)
      if (models.size >= most && zeroVariance.length > 0) await close(zeroVariance[0])
      if (models.size >= most) {
        throw refuse(
          'tinker-too-many-models',
          `There are ${models.size} models in memory, all of clients that are there`,
          {
            expected: `at most ${most}`,
            hint: 'Unload one, or start the server with a larger --max-models.',
          },
        )
      }
      const backend = await base.open(baseModel, lora)
      const made = new Date().toISOString()
      const lastRequest = performance.now()
      const model = {
        id,
        session,
        baseModel,
        lora,
        backend,
        made,
        lastRequest,
        requests: new Map<number, never>(),
      }
      models.set(id, model)
      return model
    },
    close,
    async dispose() {
      await Promise.all([...models.values()].map(close))
    },
  }
}
