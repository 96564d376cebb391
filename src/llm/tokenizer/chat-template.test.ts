import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Template } from '@huggingface/jinja'
import { expect, test } from 'vitest'
import {
  createChatTemplate,
  readChatTemplate,
  renderTemplate,
  type TemplateMessage,
} from './chat-template.ts'

interface Golden {
  template: string
  cases: {
    messages: TemplateMessage[]
    options: { tools?: unknown[]; add_generation_prompt?: boolean; enable_thinking?: boolean }
    text: string
  }[]
  refused?: { messages: TemplateMessage[]; message: string }
}

// Made with transformers' apply_chat_template; make_chat_templates.py beside it says how.
const golden = JSON.parse(
  readFileSync(new URL('../golden/chat-templates.json', import.meta.url), 'utf8'),
) as Record<string, Golden>
const tokens = { bos_token: '<|begin_of_text|>', eos_token: '<|im_end|>' }

for (const [name, { template, cases, refused }] of Object.entries(golden)) {
  test(`${name}: conversations are rendered as in transformers`, () => {
    const chat = createChatTemplate(template, tokens)
    for (const { messages, options, text } of cases) {
      const { tools, add_generation_prompt: addGenerationPrompt = false, ...variables } = options
      expect(chat.render(messages, { ...(tools && { tools }), addGenerationPrompt, variables })).toBe(text)
    }
    if (refused === undefined) return
    try {
      chat.render(refused.messages)
      expect.unreachable()
    } catch (error) {
      expect(error).toMatchObject({ code: 'chat-template-failed', given: refused.message })
    }
  })
}

test.each([
  '{% for i in range(1000000000) %}x{% endfor %}',
  '{% for i in range(10000) %}{% for j in range(10000) %}{% endfor %}{% endfor %}',
  "{% set n = namespace(t='xxxxxxxx') %}{% for i in range(60) %}{% set n.t = n.t + n.t %}{% endfor %}{{ n.t }}",
  '{% set n = namespace(t=[1]) %}{% for i in range(60) %}{% set n.t = n.t + n.t %}{% endfor %}{{ n.t }}',
])('a template without end is broken off: %s', (source) => {
  const render = () => createChatTemplate(source).render([{ role: 'user', content: 'x' }])
  expect(render).toThrow(expect.objectContaining({ code: 'chat-template-failed' }))
})

test.each(['n.t | tojson', 'n.t', 'n.t ~ "x"', 'n.t | string | length'])(
  'a list that holds itself many times over is not written out: %s',
  (printed) => {
    const lists =
      '{% set n = namespace(t=[1]) %}{% for i in range(60) %}{% set n.t = [n.t, n.t] %}{% endfor %}'
    expect(() => renderTemplate(new Template(`${lists}{{ ${printed} }}`), {})).toThrow(/too large/)
  },
)

test('what a template makes counts by its size', () => {
  const render = (source: string) => () => createChatTemplate(source).render([{ role: 'user', content: 'x' }])
  const refused = expect.objectContaining({ given: expect.stringContaining('steps') as string })
  const inLoop = (what: string): string => `{% for i in range(100) %}{% set x = ${what} %}{% endfor %}`
  expect(render(inLoop('range(10000)'))).toThrow(refused)
  expect(render('{% for i in range(5000) %}{{ strftime_now("%Y") }}{% endfor %}')).toThrow(refused)
  expect(render(inLoop('range(100)'))()).toBe('')
})

test.each([
  ['{{ 1 }}'.repeat(20_000), 'characters'],
  [`{%${' '.repeat(201)}if true %}x{% endif %}`, 'blanks'],
  [`a${'\n'.repeat(1000)}{% if true %}x{% endif %}`, 'blanks'],
])('a template that would take too long to read is refused', (source, why) => {
  expect(() => createChatTemplate(source)).toThrow(
    expect.objectContaining({ code: 'bad-chat-template', given: expect.stringContaining(why) as string }),
  )
})

test('a conversation of a thousand long messages stays far below the limit', () => {
  const [{ template }] = Object.values(golden).toSorted((a, b) => b.template.length - a.template.length)
  const messages = Array.from({ length: 1000 }, (_, i) => ({
    role: i % 2 === 0 ? 'user' : 'assistant',
    content: 'words '.repeat(500),
  }))
  expect(createChatTemplate(template).render(messages).length).toBeGreaterThan(3_000_000)
})

test('templates of a folder are found, also that for tools, and a missing one is named', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-template-'))
  const write = (config: unknown) =>
    writeFileSync(join(folder, 'tokenizer_config.json'), JSON.stringify(config))
  const messages = [{ role: 'user', content: 'x' }]
  try {
    write({ bos_token: { content: '<s>' } })
    await expect(readChatTemplate(folder)).rejects.toMatchObject({ code: 'no-chat-template' })
    write({ bos_token: { content: '<s>' }, chat_template: '{{ bos_token }}{{ messages[0].content }}' })
    expect((await readChatTemplate(folder)).render(messages)).toBe('<s>x')
    const list = [
      { name: 'default', template: 'plain' },
      { name: 'tool_use', template: '{{ tools | length }} tools' },
    ]
    write({ chat_template: list })
    const both = await readChatTemplate(folder)
    expect([both.render(messages), both.render(messages, { tools: [1, 2] })]).toEqual(['plain', '2 tools'])
    writeFileSync(join(folder, 'chat_template.jinja'), 'of its own{% if %}')
    await expect(readChatTemplate(folder)).rejects.toMatchObject({ code: 'bad-chat-template' })
    writeFileSync(join(folder, 'chat_template.jinja'), 'of its own')
    expect((await readChatTemplate(folder)).render(messages)).toBe('of its own')
  } finally {
    rmSync(folder, { recursive: true })
  }
})
