export { checkWindow, createLanguageModel, languageModelFrom, readAnswer } from './language-model.ts'
export type { LanguageModelOptions, AnswerCall, ModelAnswer } from './language-model.ts'
export type { ModelCall, LanguageModel, TokenMetadata } from './read-call.ts'
