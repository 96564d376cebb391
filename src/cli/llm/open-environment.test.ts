import { expect, test } from 'vitest'
import { smallModelPlan } from '../../llm/training/defaults.ts'
import { lengthsOf } from './open-environment.ts'

const task = (tools: string[], text: string) => ({
  context: { tools },
  reference: [{ name: 'note', arguments: { text } }],
})

test('turns have room for the longest reference call, and episodes for the longest plan', () => {
  const { limits, maxTokensPerTurn } = smallModelPlan
  expect(lengthsOf([task(['note'], 'short')])).toEqual({ limits, maxTokensPerTurn })
  const long = lengthsOf([task(['note'], 'short'), task(['note'], 'x'.repeat(165))])
  expect(long.maxTokensPerTurn).toBe(
    Math.ceil((2 / 3) * (165 + '{"name":"note","arguments":{"text":""}}'.length)),
  )
  expect(long.limits).toEqual({ ...limits, tokensPerTurn: long.maxTokensPerTurn, totalTokens: 1000 })
  expect(lengthsOf([task(['note'], 'x'.repeat(5000))]).maxTokensPerTurn).toBe(192)
  expect(lengthsOf([task(Array<string>(6).fill('note'), 'short')]).limits.turns).toBe(8)
})
