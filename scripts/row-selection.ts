/**
 * How often a base model that looks at records answers from the right one, by the number of records. At chance, it is right in one
 * of two with two records, in one of three with three.
 *
 *   npx tsx --conditions agoge-source scripts/row-selection.ts models/base [CONVERSATIONS]
 *
 * Conversations are those of the skill `ask of records`, in words that training never has; counted are answers with a value of one
 * record, which the question names by another.
 */
import { readCheckpoint } from '../src/llm/checkpoint/checkpoint.ts'
import { createLocalBackend } from '../src/llm/backend/local-backend.ts'
import { readResult, tablesIn } from '../src/llm/environment/mcp/goals/tables.ts'
import type { PlainObject } from '../src/llm/environment/mcp/salient.ts'
import type { SampleRequest } from '../src/llm/model-backend.ts'
import { skillConversation } from '../src/llm/pretraining/corpus/conversation.ts'
import { encodeMessage } from '../src/llm/tokenizer/template.ts'

const [folder = 'models/base', count = '400'] = process.argv.slice(2)
const { config, parameters, tokenizer } = await readCheckpoint(folder)
if (tokenizer === undefined) throw new Error(`${folder} has no tokenizer`)
const marker = tokenizer.special('<|assistant|>')

/** Whether the answer says which record it is about, by a value that the question names, and a value of it that no other has. */
function choosesOne(records: readonly PlainObject[], question: string, answer: string): boolean {
  const [, known = '', key = '', value = ''] = /^\w+: (.+), (\w+): (.+)$/.exec(answer) ?? []
  return question.includes(known) && records.filter((one) => String(one[key]) === value).length === 1
}

const requests: SampleRequest[] = []
const wanted: { rows: number; tokens: Int32Array }[] = []
for (let at = 0; at < Number(count); at++) {
  const context: number[] = []
  let result: string | undefined
  let question = ''
  for (const message of skillConversation('ask of records', at, 'probe')) {
    const { tokens } = encodeMessage(tokenizer, message, result)
    if (message.role === 'tool') result = message.text
    if (message.role === 'user') question = message.text
    const rows = tablesIn(readResult(result ?? ''), '')[0]?.records ?? []
    if (message.role === 'assistant' && choosesOne(rows, question, message.text)) {
      requests.push({ prompt: Int32Array.from([...context, marker]), key: `${at}/${context.length}` })
      wanted.push({ rows: rows.length, tokens: tokens.subarray(1) })
    }
    context.push(...tokens)
  }
}

const backend = createLocalBackend({ config, parameters, tokenizer })
const right = new Map<number, { right: number; all: number }>()
for (let start = 0; start < requests.length; start += 128) {
  const options = { maxTokens: 32, stop: [tokenizer.special('<|end|>')], temperature: 0, seed: 0 }
  const outputs = await backend.sample(requests.slice(start, start + 128), options)
  for (const [at, { tokens }] of outputs.entries()) {
    const { rows, tokens: answer } = wanted[start + at]
    const cell = right.get(rows) ?? { right: 0, all: 0 }
    right.set(rows, cell)
    cell.all++
    if (tokens.length === answer.length && tokens.every((token, i) => token === answer[i])) cell.right++
  }
}
await backend.dispose()
for (const [rows, cell] of [...right].toSorted(([a], [b]) => a - b))
  console.log(
    `${rows} records: ${cell.right} of ${cell.all} right, ${Math.round((100 * cell.right) / cell.all)}% (chance ${Math.round(100 / rows)}%)`,
  )
