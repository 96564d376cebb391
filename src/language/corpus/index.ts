export { corpusConversation, corpusSkills, skillConversation } from './conversation.ts'
export type { CorpusSkill } from './conversation.ts'
export type { WordPool } from './draw.ts'
