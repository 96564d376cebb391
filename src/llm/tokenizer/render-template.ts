import { createContext, Script } from 'node:vm'
import { Environment, Interpreter, Template } from '@huggingface/jinja'

/** What one rendering may take. A conversation of a thousand messages takes some hundred thousand. */
const mostSteps = 5_000_000
const longestRange = 100_000
/** Characters, and items of a list, that are made or copied in the time of a step. */
const charactersPerStep = 64
const itemsPerStep = 8
/** Of the body of a loop or a branch. */
const stepsPerBlock = 10
/** Ends what takes long in one step, such as printing a list of lists of lists. No honest template comes near. */
const mostSeconds = 30

/** The package's types name this class, and lead nowhere under Node's resolution of modules. */
interface Evaluator {
  run(program: unknown): { value: unknown }
  evaluate(statement: unknown, environment: unknown): { value: unknown }
  evaluateBlock(statements: unknown, environment: unknown): { value: unknown }
}
const PlainInterpreter = Interpreter as unknown as new (environment: unknown) => Evaluator

/** Templates come with public checkpoints and may loop without end, so this interpreter counts its steps. */
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
 * The text that a template makes of the variables, as `Template.render` makes it, within a limit of steps, and one of seconds for
 * what the steps do not count.
 *
 * @throws Error where the template raises one, is wrong, or runs over a limit.
 */
export function renderTemplate(
  template: Template,
  variables: Readonly<Record<string, unknown>>,
  seconds = mostSeconds,
): string {
  const environment = new Environment() as { set(name: string, value: unknown): void }
  for (const [name, value] of Object.entries({ ...globals, ...variables })) environment.set(name, value)
  watched.render = () => String(new CountingInterpreter(environment).run(template.parsed).value)
  return callRender.runInContext(watched, { timeout: seconds * 1000 }) as string
}

// Node stops a script that takes too long, with all that it calls.
const callRender = new Script('render()')
const watched: { render?: () => string } = {}
createContext(watched)

/** What `Template.render` defines, but for `range`, which has a limit here. */
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
