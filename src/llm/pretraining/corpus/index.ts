export { corpusConversation, corpusStages, corpusSkills, skillConversation } from './conversation.ts'
export type { CorpusStage, CorpusSkill } from './conversation.ts'
export type { WordPool } from './draw.ts'
