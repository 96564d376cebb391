export { serveOpenAI } from './serve.ts'
export type { Served, ServeOptions } from './serve.ts'
export type { ServedModel } from './served-model.ts'
