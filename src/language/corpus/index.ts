export { corpusConversation, corpusCourses, corpusSkills, skillConversation } from './conversation.ts'
export type { CorpusCourse, CorpusSkill } from './conversation.ts'
export type { WordPool } from './draw.ts'
