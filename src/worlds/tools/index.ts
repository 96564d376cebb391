export { createToolsWorld } from './tools-world.ts'
export type { ToolsWorld, ToolsWorldOptions } from './tools-world.ts'
