import { expect, test } from 'vitest'
import { endingOfMistake } from './model-mistakes.ts'

/** An error with the name and the fields that a framework gives it. */
const thrown = (name: string, fields: object = {}): Error =>
  Object.assign(new Error('said so'), { name, ...fields })

test.each([
  ['OpenAI Agents SDK', thrown('MaxTurnsExceededError'), 'turn-limit'],
  ['LangGraph.js', thrown('GraphRecursionError', { lc_error_code: 'GRAPH_RECURSION_LIMIT' }), 'turn-limit'],
  ['LangChain', thrown('Error', { lc_error_code: 'OUTPUT_PARSING_FAILURE' }), 'answered'],
  ['Mastra', thrown('Error', { id: 'STRUCTURED_OUTPUT_SCHEMA_VALIDATION_FAILED' }), 'answered'],
  ['an error around it', new Error('the agent stopped', { cause: thrown('ModelBehaviorError') }), 'answered'],
  ['an error of the program', new TypeError('not a function'), undefined],
  ['a name that every object has', thrown('constructor'), undefined],
  ['no error', 'MaxTurnsExceededError', undefined],
])('%s: how the episode ended', (_, error, ending) => {
  expect(endingOfMistake(error)).toBe(ending)
})
