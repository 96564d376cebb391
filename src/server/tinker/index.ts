export { createTinkerServer } from './server.ts'
export type { TinkerServer, TinkerServerOptions } from './server.ts'
