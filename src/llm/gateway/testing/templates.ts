import { readFileSync } from 'node:fs'
import { createTemplateFormat } from '../../agent/chat-format/template-format.ts'
import type { ChatFormat } from '../../agent/chat-format/types.ts'
import { templateText } from '../../agent/testing/tiny-checkpoint.ts'
import { createChatTemplate } from '../../tokenizer/chat-template.ts'
import { tokenizerFromJson } from '../../tokenizer/tokenizer-json.ts'
import { createTokenizer, type Tokenizer } from '../../tokenizer/tokenizer.ts'

/** How a chat template writes turns and calls. */
interface Markup {
  /** Before a turn of this role; `%` is the role. */
  open: string
  close: string
  /** The names of the roles in the template, where they differ. */
  roles?: Partial<Record<'assistant' | 'user' | 'tool' | 'system', string>>
  bos?: string
  call: { before: string; between: string; after: string }
  /** Whether earlier reasoning stays in the prompt. Default: there is none. */
  thoughts?: 'kept' | 'dropped'
  /** Joins results of tools to the turn of the user, as some do. */
  isTrimmed?: boolean
}

const tagged = { before: '<tool_call>\n{"name": "', between: '", "arguments": ', after: '}\n</tool_call>' }
const bare = { before: '{"name": "', between: '", "parameters": ', after: '}' }

/** Written for this test in the manner of public families; none is copied. */
const markups: Record<string, Markup> = {
  chatml: { open: '<|im_start|>%\n', close: '<|im_end|>\n', call: tagged },
  'chatml that keeps reasoning': {
    open: '<|im_start|>%\n',
    close: '<|im_end|>\n',
    call: tagged,
    thoughts: 'kept',
  },
  'chatml that drops reasoning': {
    open: '<|im_start|>%\n',
    close: '<|im_end|>\n',
    call: tagged,
    thoughts: 'dropped',
  },
  'headers that trim': {
    open: '<|start_header|>%<|end_header|>\n\n',
    close: '<|eot|>',
    bos: '<|begin|>',
    call: bare,
    isTrimmed: true,
  },
  'turns of a model': {
    open: '<start_of_turn>%\n',
    close: '<end_of_turn>\n',
    roles: { assistant: 'model', tool: 'user', system: 'user' },
    bos: '<bos>',
    call: tagged,
  },
  'roles as tokens': { open: '<|%|>\n', close: '<|end|>\n', call: bare },
  'roles as tokens, without lines': { open: '<|%|>', close: '</s>', bos: '<s>', call: tagged },
  'roles between bars': {
    open: '<|start_of_role|>%<|end_of_role|>',
    close: '<|end_of_text|>\n',
    roles: { tool: 'tool_response' },
    call: tagged,
  },
}

function sourceOf({ open, close, roles = {}, bos = '', call, thoughts, isTrimmed = false }: Markup): string {
  const text = (value: string): string => JSON.stringify(value).replaceAll("'", "\\'")
  const [before, after] = open.split('%')
  const content = isTrimmed ? '(message.content | trim)' : 'message.content'
  const isThought =
    thoughts === 'kept' ? 'message.reasoning_content' : 'message.reasoning_content and loop.index0 > ns.last'
  const thought =
    thoughts === undefined
      ? ''
      : `{%- if ${isThought} %}{{- '<think>\\n' + message.reasoning_content + '\\n</think>\\n\\n' }}{%- endif %}`
  return `{{- ${text(bos)} }}
{%- set names = ${JSON.stringify({ assistant: 'assistant', user: 'user', tool: 'tool', system: 'system', ...roles })} %}
{%- set ns = namespace(last=-1) %}
{%- for message in messages %}{%- if message.role == 'user' %}{%- set ns.last = loop.index0 %}{%- endif %}{%- endfor %}
{%- if tools %}{{- ${text(before)} + names['system'] + ${text(after)} + (tools | tojson) + ${text(close)} }}{%- endif %}
{%- for message in messages %}
{{- ${text(before)} + names[message.role] + ${text(after)} }}
${thought}
{%- if message.content %}{{- ${content} }}{%- endif %}
{%- for tool_call in message.tool_calls or [] %}
{{- ${text(call.before)} + tool_call.function.name + ${text(call.between)} + (tool_call.function.arguments | tojson) + ${text(call.after)} }}
{%- endfor %}
{{- ${text(close)} }}
{%- endfor %}
{%- if add_generation_prompt %}{{- ${text(before)} + names['assistant'] + ${text(after)} }}{%- endif %}`
}

/** A format, and what a model writes in it. */
export interface TestFormat {
  format: ChatFormat
  tokenizer: Tokenizer
  end: string
  call: (name: string, args: object) => string
  thinks: boolean
}

interface TokenizerJson {
  added_tokens: { id: number; content: string; special: boolean }[]
}

/** A tokenizer with these special tokens, so that markers are single tokens as in the families. */
function tokenizerWith(markers: readonly string[]): Tokenizer {
  const golden = new URL('../../golden/tokenizers.json', import.meta.url)
  const { qwen2 } = JSON.parse(readFileSync(golden, 'utf8')) as Record<string, { json: TokenizerJson }>
  const { added_tokens: added } = qwen2.json
  const first = Math.max(...added.map(({ id }) => id)) + 1
  const known = new Set(added.map(({ content }) => content))
  const fresh = markers.filter((content) => !known.has(content))
  const tokens = fresh.map((content, i) => ({ ...added[0], id: first + i, content }))
  return createTokenizer(
    tokenizerFromJson(JSON.stringify({ ...qwen2.json, added_tokens: [...added, ...tokens] })),
  )
}

function build(
  source: string,
  markers: readonly string[],
  end: string,
  call: Markup['call'],
  thinks: boolean,
): TestFormat {
  const tokenizer = tokenizerWith(markers)
  const template = createChatTemplate(source, { bos_token: '<|begin_of_text|>' })
  return {
    tokenizer,
    format: createTemplateFormat({ template, tokenizer }),
    end,
    thinks,
    call: (name, args) => `${call.before}${name}${call.between}${JSON.stringify(args)}${call.after}`,
  }
}

/** Ten formats by their names: the two of the golden files, and eight in the manner of other families. */
export function tenFormats(): Record<string, TestFormat> {
  const own = Object.entries(markups).map(([name, markup]): [string, TestFormat] => {
    const tokens = [markup.open, markup.close, markup.bos ?? ''].flatMap((text) =>
      ['assistant', 'user', 'tool', 'system'].flatMap(
        (role) => text.replace('%', role).match(/<[^>]+>/g) ?? [],
      ),
    )
    const thinks = markup.thoughts !== undefined
    return [name, build(sourceOf(markup), [...new Set(tokens)], markup.close.trim(), markup.call, thinks)]
  })
  const headers = ['<|begin_of_text|>', '<|eot_id|>', '<|start_header_id|>', '<|end_header_id|>']
  return {
    ...Object.fromEntries(own),
    'golden im': build(templateText('qwen'), [], '<|im_end|>', tagged, true),
    'golden headers': build(templateText('llama'), headers, '<|eot_id|>', bare, false),
  }
}
