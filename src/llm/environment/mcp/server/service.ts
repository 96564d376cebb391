import type { ServiceConfig } from './service-config.ts'

/** A running service of one slot. */
export interface Service {
  /** Values for `{service}`, `{host}` and `{port}` in the configuration of the server. */
  places: Record<string, string>
  /** Variables that clients of such a service read. */
  env: Record<string, string>
  /** Resets it to what it was after it was filled. */
  reset(): Promise<void>
  close(): Promise<void>
}

interface StarterOptions {
  /** Hides secrets in what commands say. */
  redact: (text: string) => string
}

/** Returns what starts the service for one slot, given the folder of the slot. */
export function serviceStarter(config: ServiceConfig, options: StarterOptions) {
  return (folder: string, signal?: AbortSignal): Promise<Service> => {
    void [folder, signal, config, options]
    throw new Error('TODO')
  }
}
