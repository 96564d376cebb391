import { expect, test } from 'vitest'
import { readCompletion } from './chat-completions.ts'

const saying = (message: object, more: object = {}): object => ({ choices: [{ message }], ...more })

test('counts that are no numbers count nothing', () => {
  for (const [given, read] of [
    [12, 12],
    ['12', 12],
    ['1e999', 0],
    [null, 0],
    [{ toString: 1, valueOf: 1 }, 0],
    [[[]], 0],
  ])
    expect(readCompletion(saying({ content: 'a' }, { usage: { prompt_tokens: given } }))).toMatchObject({
      text: 'a',
      promptTokens: read,
      sampledTokens: 0,
    })
})

test('arguments that are no object are said again in the conversation', () => {
  const calling = (args: unknown): object =>
    saying({ tool_calls: [{ function: { name: 'f', arguments: args } }] })
  expect(readCompletion(calling('[1]'))).toMatchObject({
    text: 'f([1])',
    invalid: 'the arguments are not a JSON object',
  })
  expect(readCompletion(calling('{"a":1}'))).toMatchObject({ calls: [{ name: 'f', arguments: { a: 1 } }] })
})
