import type { ChatMessage } from '../../tokenizer/template.ts'
import { chance, pick, say, shuffled } from './draw.ts'
import type { Draw } from './draw.ts'
import { inventedTools, inventedCall } from './calls.ts'
import type { InventedCall } from './calls.ts'
import { request } from './tree-task.ts'

const called = (name: string, { args, result }: InventedCall): ChatMessage[] => [
  { role: 'assistant', text: '', calls: [{ name, arguments: args }] },
  { role: 'tool', text: result },
]

/** One memorised tool, now and then two in a row; a legend is shown to a few. */
export function memorisedCall(d: Draw): ChatMessage[] {
  const tool = pick(d, inventedTools)
  const call = tool.use(d)
  const system: ChatMessage[] = chance(d, 0.2)
    ? [
        {
          role: 'system',
          text: `tools: ${shuffled(d, [tool.toolDescriptions, pick(d, inventedTools).toolDescriptions])
            .filter((line, i, all) => all.indexOf(line) === i)
            .join(', ')}`,
        },
      ]
    : []
  if (call.answer !== 'done' || chance(d, 0.7)) {
    return [
      ...system,
      { role: 'user', text: request(d, call.ask) },
      ...called(tool.name, call),
      { role: 'assistant', text: call.answer },
    ]
  }
  const next = pick(d, inventedTools)
  const second = next.use(d)
  return [
    {
      role: 'user',
      text: request(d, say(d, '{a}[, then| and then|. then|; next] {b}', { a: call.ask, b: second.ask })),
    },
    ...called(tool.name, call),
    ...called(next.name, second),
    { role: 'assistant', text: second.answer },
  ]
}

/** A tool made up for this conversation, among up to two others in the legend. */
export function describedCall(d: Draw): ChatMessage[] {
  const call = inventedCall(d)
  const others = Array.from({ length: d.random.int(3) }, () => inventedCall(d).toolDescriptions)
  const said =
    chance(d, 0.3) && call.answer !== 'done'
      ? say(d, 'and [tell me|give me] [the result|what it answers|what comes back]')
      : ''
  return [
    { role: 'system', text: `tools: ${shuffled(d, [call.toolDescriptions, ...others]).join(', ')}` },
    { role: 'user', text: request(d, `${call.ask} ${said}`) },
    ...called(call.name, call),
    { role: 'assistant', text: call.answer },
  ]
}
