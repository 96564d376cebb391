import { expect, test } from 'vitest'
import { readResult, tablesIn } from '../../environment/mcp/goals/tables.ts'
import { containsWhole } from '../../environment/mcp/salient.ts'
import { skillConversation } from './conversation.ts'

test('rows that are said again stand in the request, word for word', () => {
  let lines = 0
  for (let seed = 0; seed < 200; seed += 1) {
    const [{ text: request }, { text: answer }] = skillConversation('rows again', seed)
    for (const line of answer.split('\n')) {
      expect(request).toContain(line)
      lines += 1
    }
  }
  expect(lines).toBeGreaterThan(1000)
})

test('a look-up names one record by a value that it alone has, and its answer is of that record', () => {
  let [checked, single] = [0, 0]
  for (let seed = 0; seed < 200; seed += 1) {
    const messages = skillConversation('look-ups', seed)
    const [table] = tablesIn(readResult(messages[2].text), 'thing')
    if (table === undefined) continue
    for (let at = 4; at < messages.length; at += 2) {
      const [question, answer] = [messages[at].text, messages[at + 1].text]
      const key = answer.slice(0, answer.indexOf(': '))
      const named = table.records.filter((record) =>
        Object.entries(record).some(([by, value]) => by !== key && containsWhole(question, String(value))),
      )
      expect(named.map((record) => `${key}: ${String(record[key])}`)).toContain(answer)
      checked += 1
      if (named.length === 1) single += 1
    }
  }
  expect(checked).toBeGreaterThan(1000)
  // Now and then a word of the question is a value of another record too.
  expect(single / checked).toBeGreaterThan(0.97)
})
