import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createContext, Script } from 'node:vm'
import { Environment, Interpreter, Template } from '@huggingface/jinja'
import { defined } from '../../defined.ts'
import { AgogeError } from '../../error.ts'
import { readForeignFile, readForeignObject } from '../../untrusted/foreign-file.ts'
import { isRecord } from '../../untrusted/schema-check.ts'

/**
 * Steps of one rendering: some for any conversation, more for a longer one. A step takes less than a microsecond, so a
 * template without end holds up its thread for no longer than some tenths of a second, whatever the conversation.
 */
const stepsOfAny = 150_000
const stepsOfMessage = 2_000
const stepsOfCharacter = 4
/** Characters and list items that are copied, or looked through, in the time of one step. */
const charactersPerStep = 64
const itemsPerStep = 8
/** Characters that are made in the time of one step, one after another. List items take a step each. */
const madePerStep = 8
/** Statements in the body of a loop or a branch. */
const stepsPerBlock = 10
/** Writing the time reads its format as a template. */
const stepsPerTime = 500
/** Time limit for single slow steps, such as replacing every letter by a long text. Real templates stay far below it. */
const mostSeconds = 30

/** A text of a template, and its longest run of blanks. The library's lexer takes time that is quadratic in a run. */
const longestSource = 100_000
const longestBlank = 200

interface RuntimeValue {
  type: string
  value: unknown
}

/** The package's types name this class but do not resolve under Node's module resolution. */
interface Evaluator {
  run(program: unknown): RuntimeValue
  evaluate(statement: { type: string } | undefined, environment: unknown): RuntimeValue
  evaluateBlock(statements: unknown, environment: unknown): RuntimeValue
}
const PlainInterpreter = Interpreter as unknown as new (environment: unknown) => Evaluator

/** Expressions that give a value which is there already. All others make theirs. */
const references: readonly (string | undefined)[] = [
  undefined,
  'Identifier',
  'MemberExpression',
  'StringLiteral',
  'Ternary',
]

/** Templates come from public checkpoints and may loop forever, so this interpreter counts its steps. */
class CountingInterpreter extends PlainInterpreter {
  private readonly budget: Budget
  private readonly weights = new WeakMap<object, number>()

  constructor(environment: unknown, budget: Budget) {
    super(environment)
    this.budget = budget
  }

  override evaluate(statement: { type: string } | undefined, environment: unknown): RuntimeValue {
    const result = super.evaluate(statement, environment)
    const { value } = result
    const isMade = !references.includes(statement?.type)
    if (typeof value === 'string')
      this.budget.spend(1 + value.length / (isMade ? madePerStep : charactersPerStep))
    else if (Array.isArray(value)) this.budget.spend(1 + value.length / (isMade ? 1 : itemsPerStep))
    else this.budget.spend(1)
    // A list that holds itself many times over is small, and written out it is without end.
    if (isMade && this.weightOf(result) > this.budget.most)
      throw new Error('it makes a value that is too large to be written out')
    return result
  }

  override evaluateBlock(statements: unknown, environment: unknown): RuntimeValue {
    this.budget.spend(stepsPerBlock)
    return super.evaluateBlock(statements, environment)
  }

  /** What a value takes to be written out, in steps. */
  private weightOf({ type, value }: RuntimeValue): number {
    if (typeof value === 'string') return 1 + value.length / madePerStep
    if (!(Array.isArray(value) || value instanceof Map)) return 1
    const known = this.weights.get(value)
    if (known !== undefined) return known
    let weight = 1
    for (const part of value.values() as Iterable<RuntimeValue>) weight += this.weightOf(part)
    // What a namespace holds may change.
    if (type !== 'NamespaceValue') this.weights.set(value, weight)
    return weight
  }
}

interface Budget {
  /** Steps of the whole rendering. */
  readonly most: number
  spend: (steps: number) => void
}

function createBudget(variables: Readonly<Record<string, unknown>>): Budget {
  const { messages } = variables
  const count = Array.isArray(messages) ? messages.length : 0
  const characters = JSON.stringify(variables).length
  // A template may look at all messages for each of them.
  const most = Math.ceil(stepsOfAny + count * (stepsOfMessage + count) + characters * stepsOfCharacter)
  let left = most
  return {
    most,
    spend(steps) {
      left -= steps
      if (left < 0) throw new Error(`it takes more than ${most} steps`)
    },
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
): string {
  const environment = new Environment() as { set(name: string, value: unknown): void }
  const budget = createBudget(variables)
  for (const [name, value] of Object.entries({ ...globals, ...limitedGlobals(budget), ...variables }))
    environment.set(name, value)
  watched.render = () => String(new CountingInterpreter(environment, budget).run(template.parsed).value)
  return callRender.runInContext(watched, { timeout: mostSeconds * 1000 }) as string
}

// Node interrupts a script that takes too long, including everything it calls.
const callRender = new Script('render()')
const watched: { render?: () => string } = {}
createContext(watched)

/** The globals of `Template.render`, except those that are limited here. */
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
}

function limitedGlobals({ spend }: Budget): Readonly<Record<string, unknown>> {
  return {
    strftime_now(format: string) {
      spend(stepsPerTime)
      return new Template('{{ strftime_now(format) }}').render({ format })
    },
    /** Python's `range`. */
    range(first: number, end?: number, step = 1): number[] {
      const [start, stop] = end === undefined ? [0, first] : [first, end]
      const count = Math.max(0, Math.ceil((stop - start) / step))
      spend(Number.isNaN(count) ? Infinity : count)
      return Array.from({ length: count }, (_, i) => start + i * step)
    },
  }
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
   * @throws AgogeError `chat-template-failed` if the template refuses the conversation or takes more steps than a
   * conversation of its length needs.
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
      checkSource(source)
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

/** @throws Error for a source that would take too long to read */
function checkSource(source: string): void {
  if (source.length > longestSource) throw new Error(`it has more than ${longestSource} characters`)
  let run = 0
  for (let at = 0; at < source.length; at++) {
    run = /\s/.test(source[at]) ? run + 1 : 0
    if (run > longestBlank) throw new Error(`it has more than ${longestBlank} blanks in a row`)
  }
}

type Json = Readonly<Record<string, unknown>>

/**
 * Loads the chat template of a checkpoint folder: `chat_template.jinja`, or `chat_template` in `tokenizer_config.json`.
 *
 * @throws AgogeError `no-chat-template` if there is none, as with base models.
 */
export async function readChatTemplate(folder: string): Promise<ChatTemplate> {
  const [config, map] = ['tokenizer_config.json', 'special_tokens_map.json'].map((name) =>
    readJson(join(folder, name)),
  )
  const tokens = specialTokenNames({ ...map, ...config })
  const own = join(folder, 'chat_template.jinja')
  if (existsSync(own)) return readForeignFile(own, (text) => createChatTemplate(text, tokens, own))
  const sources = readSources(config.chat_template)
  if (sources !== undefined) return createChatTemplate(sources, tokens, join(folder, 'tokenizer_config.json'))
  throw new AgogeError(`The model in ${folder} has no chat template.`, {
    code: 'no-chat-template',
    given: 'chat_template' in config ? config.chat_template : undefined,
    expected: 'chat_template.jinja, or the field chat_template in tokenizer_config.json',
    hint: 'take the instruction-tuned sibling of the model, or write a template with createChatTemplate',
  })
}

function readJson(file: string): Json {
  return existsSync(file) ? readForeignObject(file, 'bad-chat-template') : {}
}

/** One template, or a list of `{ name, template }` with one named `default`. */
function readSources(value: unknown): string | TemplateSources | undefined {
  if (typeof value === 'string') return value
  if (!Array.isArray(value)) return undefined
  const list = value.filter(isRecord)
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
