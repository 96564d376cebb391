import type { ChatMessage } from '../template.ts'
import { chance, pick, say, shuffled } from './draw.ts'
import type { Draw } from './draw.ts'
import { deedTools, inventedDeed } from './deeds.ts'
import type { Deed } from './deeds.ts'
import { request } from './tree-errand.ts'

const called = (name: string, { args, result }: Deed): ChatMessage[] => [
  { role: 'assistant', text: '', calls: [{ name, arguments: args }] },
  { role: 'tool', text: result },
]

/** One memorised tool, now and then two in a row; a legend is shown to a few. */
export function memorisedDeed(d: Draw): ChatMessage[] {
  const tool = pick(d, deedTools)
  const deed = tool.use(d)
  const system: ChatMessage[] = chance(d, 0.2)
    ? [
        {
          role: 'system',
          text: `tools: ${shuffled(d, [tool.legend, pick(d, deedTools).legend])
            .filter((line, i, all) => all.indexOf(line) === i)
            .join(', ')}`,
        },
      ]
    : []
  if (deed.answer !== 'done' || chance(d, 0.7)) {
    return [
      ...system,
      { role: 'user', text: request(d, deed.ask) },
      ...called(tool.name, deed),
      { role: 'assistant', text: deed.answer },
    ]
  }
  const next = pick(d, deedTools)
  const second = next.use(d)
  return [
    {
      role: 'user',
      text: request(d, say(d, '{a}[, then| and then|. then|; next] {b}', { a: deed.ask, b: second.ask })),
    },
    ...called(tool.name, deed),
    ...called(next.name, second),
    { role: 'assistant', text: second.answer },
  ]
}

/** A tool made up for this conversation, among up to two others in the legend. */
export function legendDeed(d: Draw): ChatMessage[] {
  const deed = inventedDeed(d)
  const others = Array.from({ length: d.random.int(3) }, () => inventedDeed(d).legend)
  const said =
    chance(d, 0.3) && deed.answer !== 'done'
      ? say(d, 'and [tell me|give me] [the result|what it answers|what comes back]')
      : ''
  return [
    { role: 'system', text: `tools: ${shuffled(d, [deed.legend, ...others]).join(', ')}` },
    { role: 'user', text: request(d, `${deed.ask} ${said}`) },
    ...called(deed.name, deed),
    { role: 'assistant', text: deed.answer },
  ]
}
