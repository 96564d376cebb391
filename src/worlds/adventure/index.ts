export { adventureContext, createAdventure } from './adventure.ts'
export type { Adventure, AdventureOptions } from './adventure.ts'
export type { Scene } from './scene.ts'
