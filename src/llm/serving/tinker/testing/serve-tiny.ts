import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createLocalBackend, loadLocalBackend } from '../../../backend/local-backend.ts'
import type { LocalBackend } from '../../../backend/local-backend.ts'
import { tinyConfig } from '../../../testing/tiny-model.ts'
import { createTinkerServer } from '../server.ts'
import type { TinkerServer, TinkerServerOptions } from '../server.ts'

export interface TinyHouse {
  /** A temporary folder. */
  root: string
  /** Folder of the base model. */
  model: string
  serve(options?: Partial<TinkerServerOptions>): Promise<TinkerServer>
  /** The same model in this process. */
  local(): Promise<LocalBackend>
  close(): Promise<void>
}

/** A base model of a few thousand parameters, and servers for it. */
export async function openTinyHouse(): Promise<TinyHouse> {
  const root = mkdtempSync(join(tmpdir(), 'agoge-tinker-'))
  const model = join(root, 'tiny')
  const made = createLocalBackend({ config: tinyConfig, seed: 3, threads: 1 })
  await made.export(model)
  await made.dispose()
  const servers: TinkerServer[] = []
  const backends: LocalBackend[] = []
  return {
    root,
    model,
    async serve(options = {}) {
      const server = await createTinkerServer({
        models: { tiny: model },
        store: join(root, 'store'),
        threads: 1,
        ...options,
      })
      servers.push(server)
      return server
    },
    async local() {
      const backend = await loadLocalBackend(model, { threads: 1 })
      backends.push(backend)
      return backend
    },
    async close() {
      await Promise.all(servers.map((server) => server.close()))
      await Promise.all(backends.map((backend) => backend.dispose()))
      rmSync(root, { recursive: true, force: true })
    },
  }
}
