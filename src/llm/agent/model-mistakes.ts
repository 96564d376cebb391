import type { Ending } from '../episode/types.ts'

/** Errors of agent frameworks that say what the model did, by their name or code. */
const endings: Readonly<Record<string, Ending>> = {
  // It still called tools when its turns were over.
  MaxTurnsExceededError: 'turn-limit',
  GraphRecursionError: 'turn-limit',
  // What it wrote is a call of an unknown tool, a refusal, or not of the form that was asked for.
  ModelBehaviorError: 'answered',
  ModelRefusalError: 'answered',
  AI_NoObjectGeneratedError: 'answered',
  AI_NoOutputGeneratedError: 'answered',
  OUTPUT_PARSING_FAILURE: 'answered',
  STRUCTURED_OUTPUT_SCHEMA_VALIDATION_FAILED: 'answered',
}

/**
 * How an episode ended if a framework (AI SDK, LangGraph.js, Mastra, OpenAI Agents SDK) threw this error because of what the model did: the
 * agent has failed. Without it such an episode would be masked, and success would count only those in which the model keeps to the rules.
 *
 * @returns undefined for any other error.
 */
export function endingOfMistake(error: unknown): Ending | undefined {
  if (!(error instanceof Error)) return undefined
  const { name, id, lc_error_code: code } = error as FrameworkError
  const known = [name, id, code].find((one) => typeof one === 'string' && Object.hasOwn(endings, one))
  return known === undefined ? endingOfMistake(error.cause) : endings[known]
}

interface FrameworkError extends Error {
  /** Of Mastra. */
  id?: string
  /** Of LangChain. */
  lc_error_code?: string
}
