import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createContext, Script } from 'node:vm'
import { Environment, Interpreter, Template } from '@huggingface/jinja'
import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'

/** Most steps of one rendering. A conversation of a thousand messages takes a few hundred thousand. */
const mostSteps = 5_000_000
const longestRange = 100_000
/** Characters and list items that are created or copied in the time of one step. */
const charactersPerStep = 64
const itemsPerStep = 8
/** Statements in the body of a loop or a branch. */
const stepsPerBlock = 10
/** Time limit for single slow steps, such as printing deeply nested lists. Real templates stay far below it. */
const mostSeconds = 30

/** The package's types name this class but do not resolve under Node's module resolution. */
interface Evaluator {
  run(program: unknown): { value: unknown }
  evaluate(statement: unknown, environment: unknown): { value: unknown }
  evaluateBlock(statements: unknown, environment: unknown): { value: unknown }
}
const PlainInterpreter = Interpreter as unknown as new (environment: unknown) => Evaluator

/** Templates come from public checkpoints and may loop forever, so this interpreter counts its steps. */
class CountingInterpreter extends PlainInterpreter {
  private left = mostSteps

  override evaluate(statement: unknown, environment: unknown): { value: unknown } {
    const result = super.evaluate(statement, environment)
    const { value } = result
    if (typeof value === 'string') this.spend(1 + value.length / charactersPerStep)
    else this.spend(Array.isArray(value) ? 1 + value.length / itemsPerStep : 1)
    return result
  }

  override evaluateBlock(statements: unknown, environment: unknown): { value: unknown } {
    this.spend(stepsPerBlock)
    return super.evaluateBlock(statements, environment)
  }

  private spend(steps: number): void {
    this.left -= steps
    if (this.left < 0) throw new Error(`it takes more than ${mostSteps} steps`)
  }
}

/**
 * Renders a template with the variables like `Template.render`, with a limit of steps, and of seconds for what steps do
 * not count.
 *
 * @param template a `Template` of `@huggingface/jinja`. Its type is not in our declarations, because the package's own
 * have errors.
 * @throws Error if the template raises one, is invalid, or exceeds a limit.
 */
export function renderTemplate(
  template: { parsed: unknown },
  variables: Readonly<Record<string, unknown>>,
  seconds = mostSeconds,
): string {
  const environment = new Environment() as { set(name: string, value: unknown): void }
  for (const [name, value] of Object.entries({ ...globals, ...variables })) environment.set(name, value)
  watched.render = () => String(new CountingInterpreter(environment).run(template.parsed).value)
  return callRender.runInContext(watched, { timeout: seconds * 1000 }) as string
}

// Node interrupts a script that takes too long, including everything it calls.
const callRender = new Script('render()')
const watched: { render?: () => string } = {}
createContext(watched)

/** The globals of `Template.render`, except `range`, which has a limit here. */
const globals: Readonly<Record<string, unknown>> = {
  true: true,
  True: true,
  false: false,
  False: false,
  none: null,
  None: null,
  raise_exception(message: string) {
    throw new Error(message)
  },
  strftime_now: (format: string) => new Template('{{ strftime_now(format) }}').render({ format }),
  range: boundedRange,
}

/** Python's `range`. */
function boundedRange(first: number, end?: number, step = 1): number[] {
  const [start, stop] = end === undefined ? [0, first] : [first, end]
  const count = Math.max(0, Math.ceil((stop - start) / step))
  if (!(count <= longestRange)) throw new Error(`range() of more than ${longestRange} numbers`)
  return Array.from({ length: count }, (_, i) => start + i * step)
}

/** A message in the format of chat templates: that of OpenAI's chat completions. */
export interface TemplateMessage {
  role: string
  content?: unknown
  tool_calls?: readonly {
    id?: string
    type?: 'function'
    function: { name: string; arguments: Readonly<Record<string, unknown>> }
  }[]
  /** Further fields of a template, such as `tool_call_id` or `reasoning_content`. */
  [field: string]: unknown
}

interface RenderOptions {
  /** `{ type: 'function', function: { name, description, parameters } }`, parameters as JSON Schema. */
  tools?: readonly unknown[]
  /** Whether to end with the start of an assistant message. */
  addGenerationPrompt?: boolean
  /** Further variables of a template, such as Qwen3's `enable_thinking`. */
  variables?: Readonly<Record<string, unknown>>
}

/** The chat template of a public model (Jinja), applied like in `transformers`. */
export interface ChatTemplate {
  /**
   * Renders the conversation as text for `tokenizer.encode(text, { addedTokens: true })`.
   *
   * @throws AgogeError `chat-template-failed` if the template refuses the conversation or takes more than five million
   * steps.
   */
  render(messages: readonly TemplateMessage[], options?: RenderOptions): string
}

/** A template for conversations, and one for those with tools if it differs. */
interface TemplateSources {
  default: string
  tool_use?: string
}

/** `tokens`: names of special tokens for the template: `bos_token`, `eos_token` ... `file` is named in errors. */
export function createChatTemplate(
  sources: string | TemplateSources,
  tokens: Readonly<Record<string, string>> = {},
  file = 'the chat template',
): ChatTemplate {
  const { default: plain, tool_use: withTools = plain } =
    typeof sources === 'string' ? { default: sources } : sources
  const parse = (source: string): Template => {
    try {
      return new Template(source)
    } catch (cause) {
      const given = cause instanceof Error ? cause.message : cause
      throw new AgogeError(`${file} cannot be read`, {
        code: 'bad-chat-template',
        given,
        expected: 'a template in Jinja, as far as @huggingface/jinja knows it',
        cause,
      })
    }
  }
  const parsed = { plain: parse(plain), withTools: parse(withTools) }
  return {
    render(messages, { tools, addGenerationPrompt = false, variables } = {}) {
      const template = tools === undefined ? parsed.plain : parsed.withTools
      try {
        return renderTemplate(template, {
          ...tokens,
          messages,
          tools: tools ?? null,
          documents: null,
          add_generation_prompt: addGenerationPrompt,
          ...variables,
        })
      } catch (cause) {
        throw new AgogeError(`${file} refuses the conversation`, {
          code: 'chat-template-failed',
          given: cause instanceof Error ? cause.message : cause,
          expected: 'messages in the roles and the order that the template knows',
          cause,
        })
      }
    },
  }
}

type Json = Readonly<Record<string, unknown>>

/**
 * Loads the chat template of a checkpoint folder: `chat_template.jinja`, or `chat_template` in `tokenizer_config.json`.
 *
 * @throws AgogeError `no-chat-template` if there is none, as with base models.
 */
export async function readChatTemplate(folder: string): Promise<ChatTemplate> {
  const [config, map] = await Promise.all(
    ['tokenizer_config.json', 'special_tokens_map.json'].map((name) => readJson(join(folder, name))),
  )
  const tokens = specialTokenNames({ ...map, ...config })
  const own = join(folder, 'chat_template.jinja')
  if (existsSync(own)) return createChatTemplate(await readFile(own, 'utf8'), tokens, own)
  const sources = readSources(config.chat_template)
  if (sources !== undefined) return createChatTemplate(sources, tokens, join(folder, 'tokenizer_config.json'))
  throw new AgogeError(`The model in ${folder} has no chat template.`, {
    code: 'no-chat-template',
    given: 'chat_template' in config ? config.chat_template : undefined,
    expected: 'chat_template.jinja, or the field chat_template in tokenizer_config.json',
    hint: 'take the instruction-tuned sibling of the model, or write a template with createChatTemplate',
  })
}

async function readJson(file: string): Promise<Json> {
  if (!existsSync(file)) return {}
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Json
  } catch (cause) {
    throw new AgogeError(`${file} is not JSON`, { code: 'bad-chat-template', expected: 'JSON', cause })
  }
}

/** One template, or a list of `{ name, template }` with one named `default`. */
function readSources(value: unknown): string | TemplateSources | undefined {
  if (typeof value === 'string') return value
  if (!Array.isArray(value)) return undefined
  const list = value as readonly { name?: unknown; template?: unknown }[]
  const named = (wanted: string): string | undefined => {
    const template = list.find(({ name }) => name === wanted)?.template
    return typeof template === 'string' ? template : undefined
  }
  const [plain, withTools] = [named('default'), named('tool_use')]
  if (plain === undefined) return undefined
  return { default: plain, ...defined({ tool_use: withTools }) }
}

function specialTokenNames(config: Json): Record<string, string> {
  const found: Record<string, string> = {}
  for (const name of ['bos', 'eos', 'unk', 'sep', 'pad', 'cls', 'mask']) {
    const value = config[`${name}_token`]
    const content = typeof value === 'object' && value !== null ? (value as Json).content : value
    if (typeof content === 'string') found[`${name}_token`] = content
  }
  return found
}
