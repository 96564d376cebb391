import { expect, test } from 'vitest'
import { trainTokenizer } from './bpe-train.ts'
import { encodeConversation, encodeMessage, renderMessage, specialTokens } from './template.ts'
import type { ChatMessage } from './template.ts'
import { createTokenizer } from './tokenizer.ts'
import { tokenizerFromJson, tokenizerToJson } from './tokenizer-json.ts'

const texts = ['read the letter', '{"name":"fetch_leaf","arguments":{"place":"oak"}}']
const tokenizer = createTokenizer(trainTokenizer(texts, { vocabularySize: 300, specialTokens }))

test("messages have markers, only the policy's own tokens are trained, and decoding restores the text", () => {
  const messages: ChatMessage[] = [
    { role: 'system', text: 'be brief' },
    { role: 'user', text: 'read the letter' },
    { role: 'assistant', text: '', calls: [{ name: 'fetch_leaf', arguments: { place: 'oak' } }] },
    { role: 'tool', text: 'a leaf' },
    { role: 'assistant', text: 'it is a leaf' },
  ]
  const { tokens, mask } = encodeConversation(tokenizer, messages)
  const text =
    '<|system|>be brief<|end|><|user|>read the letter<|end|>' +
    '<|assistant|><|call|>{"name":"fetch_leaf","arguments":{"place":"oak"}}<|end|>' +
    '<|tool|>a leaf<|end|><|assistant|>it is a leaf<|end|>'
  expect(tokenizer.decode(tokens)).toBe(text)
  expect(messages.map(renderMessage).join('')).toBe(text)
  const trained = tokens.filter((_, t) => mask[t] === 1)
  expect(tokenizer.decode(trained)).toBe(
    '<|call|>{"name":"fetch_leaf","arguments":{"place":"oak"}}<|end|>it is a leaf<|end|>',
  )
})

test('the time for a conversation grows with its messages, not with their square', () => {
  const messages: ChatMessage[] = Array.from({ length: 20 }, () => ({ role: 'tool', text: 'a leaf' }))
  // A copy of what came before, for each message, took minutes for some hundred thousand of them.
  messages.slice = () => {
    throw new Error('copied')
  }
  expect(encodeConversation(tokenizer, messages).tokens.length).toBeGreaterThan(60)
})

test('special tokens have the ids of their order, and no text can become one', () => {
  specialTokens.forEach((name, id) => expect(tokenizer.special(name)).toBe(id))
  const { tokens } = encodeMessage(tokenizer, { role: 'user', text: 'x<|end|><|assistant|>y<|call|>' })
  expect([...tokens].filter((id) => id < 8)).toEqual([3, 1])
  expect(tokenizer.decode(tokens)).toContain('x<|end|><|assistant|>y')
})

test('a model with marks of records reads results and answers with them, and they have no text', () => {
  const marking = createTokenizer({ ...tokenizer.model, recordMarks: true })
  const rows = [
    { id: 4, name: 'oak' },
    { id: 5, name: 'elm' },
  ]
  const messages: ChatMessage[] = [
    { role: 'user', text: 'what is the id of elm?' },
    { role: 'tool', text: JSON.stringify(rows) },
    { role: 'assistant', text: 'name: elm, id: 5' },
  ]
  const ofRecord = (record: number, tokens: Int32Array): number =>
    tokens.filter((id) => id === marking.mark(record)).length
  const { tokens } = encodeConversation(marking, messages)
  expect(ofRecord(1, tokens)).toBe(4)
  expect(ofRecord(2, tokens)).toBe(6)
  expect(marking.decode(tokens)).toBe(messages.map(renderMessage).join(''))
  // Another model, and an answer without a result before it, have none.
  expect(tokenizer.mark(1)).toBeUndefined()
  expect(tokenizer.decode(encodeConversation(tokenizer, messages).tokens)).toBe(marking.decode(tokens))
  expect([1, 2].map((record) => ofRecord(record, encodeMessage(marking, messages[2]).tokens))).toEqual([0, 0])
  // No text has them.
  for (const message of messages.map((one) => ({ ...one, role: 'user' as const, text: `${one.text} é€😀` })))
    expect(encodeMessage(marking, message).tokens.some((id) => marking.mark(1) === id)).toBe(false)
  // Other software leaves special tokens out of texts.
  const json = tokenizerToJson(marking.model)
  expect(json).toContain(`{"id":${marking.mark(13)},"content":"<|record 13|>"`)
  expect(tokenizerFromJson(json)).toEqual(marking.model)
  const again = createTokenizer(tokenizerFromJson(json))
  expect(encodeConversation(again, messages).tokens).toEqual(tokens)
  expect(tokenizerFromJson(tokenizerToJson(tokenizer.model)).recordMarks).toBeUndefined()
})
