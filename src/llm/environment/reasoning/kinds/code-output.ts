import type { Random } from '../../../../engine/random/index.ts'
import { defineKind, scoreNumber } from '../kind.ts'
import { between, please, until } from '../shared/draws.ts'

/** What the right side of an assignment or of a condition may be. */
type Operand = number | string
interface Assignment {
  to: string
  left: Operand
  operator: '+' | '-' | '*'
  right: Operand
}
type Statement =
  | { kind: 'set'; to: string; value: number }
  | ({ kind: 'assign' } & Assignment)
  | { kind: 'repeat'; times: number; body: Assignment }
  | { kind: 'if'; left: string; above: number; body: Assignment }

const names = ['x', 'y', 'z'] as const
/** Programs whose values grow beyond this are not asked. */
const bound = 500

/** What a program of a tiny language prints: assignments, loops of one statement, conditions of one statement. */
export const codeOutput = defineKind({
  name: 'code-output',
  about: 'what a small program prints',
  knobs: {
    statements: { least: 1, most: 6, about: 'after the first assignments' },
    variables: { least: 1, most: 3, about: 'that are assigned at first' },
    kinds: { least: 1, most: 3, about: '1 = assignments, 2 = loops too, 3 = conditions too' },
  },
  levels: [
    { statements: 1, variables: 2, kinds: 1 },
    { statements: 3, variables: 2, kinds: 2 },
    { statements: 4, variables: 3, kinds: 3 },
  ],
  templates: [
    '[What does|What will] this program print:\n<program>',
    `${please}[run|execute|trace] this program and [give me|tell me] its output:\n<program>`,
    '[Give me|Tell me|Find] the output of [this program|these lines]:\n<program>',
  ],
  unseen: ['Follow the code by hand and write down the number that appears:\n<program>'],
  draw(random, { statements, variables, kinds }) {
    return until(() => {
      const used = names.slice(0, variables)
      const program: Statement[] = used.map((to) => ({ kind: 'set', to, value: between(random, 1, 9) }))
      for (let i = 0; i < statements; i++) program.push(drawStatement(random, used, kinds))
      const last = program.at(-1) as Statement
      const print = 'body' in last ? last.body.to : last.to
      const { values, most } = run(program)
      return most <= bound && Math.abs(values[print]) <= bound ? { program, print } : undefined
    })
  },
  pose({ program, print }: { program: readonly Statement[]; print: string }) {
    const { values, trace } = run(program)
    const lines = [...program.map(say), `print ${print}`].join('\n')
    return {
      key: lines,
      holes: { program: lines },
      thought: [trace.join(', ')],
      answer: String(values[print]),
      score: (given) => scoreNumber(given, values[print]),
    }
  },
})

function drawStatement(random: Random, used: readonly string[], kinds: number): Statement {
  const kind = random.int(kinds)
  const to = random.pick(used)
  const operator = random.pick(['+', '+', '-', '*'] as const)
  const left: Operand = kind === 1 || used.length === 1 ? to : random.pick(used)
  const other = used.filter((name) => name !== left)
  const number = between(random, operator === '*' ? 2 : 1, operator === '*' ? 3 : 9)
  const right = other.length > 0 && operator !== '*' && random.int(2) === 0 ? random.pick(other) : number
  const body = { to, left, operator, right }
  if (kind === 1) return { kind: 'repeat', times: between(random, 2, 3), body }
  if (kind === 2) return { kind: 'if', left: random.pick(used), above: between(random, 2, 9), body }
  return { kind: 'assign', ...body }
}

const sayAssignment = ({ to, left, operator, right }: Assignment): string =>
  `${to} = ${left} ${operator} ${right}`

function say(statement: Statement): string {
  if (statement.kind === 'set') return `${statement.to} = ${statement.value}`
  if (statement.kind === 'repeat') return `repeat ${statement.times}: ${sayAssignment(statement.body)}`
  if (statement.kind === 'if')
    return `if ${statement.left} > ${statement.above}: ${sayAssignment(statement.body)}`
  return sayAssignment(statement)
}

/** The values at the end, every change on the way as "x = 3", and the largest size met. */
function run(program: readonly Statement[]): {
  values: Record<string, number>
  trace: string[]
  most: number
} {
  const values: Record<string, number> = {}
  const trace: string[] = []
  let most = 0
  const valueOf = (operand: Operand): number => (typeof operand === 'number' ? operand : values[operand])
  const set = (to: string, value: number): void => {
    values[to] = value
    most = Math.max(most, Math.abs(value))
    trace.push(`${to} = ${value}`)
  }
  const assign = ({ to, left, operator, right }: Assignment): void => {
    const [a, b] = [valueOf(left), valueOf(right)]
    set(to, operator === '+' ? a + b : operator === '-' ? a - b : a * b)
  }
  for (const statement of program) {
    if (statement.kind === 'set') set(statement.to, statement.value)
    else if (statement.kind === 'assign') assign(statement)
    else if (statement.kind === 'repeat') for (let i = 0; i < statement.times; i++) assign(statement.body)
    else if (values[statement.left] > statement.above) assign(statement.body)
  }
  return { values, trace, most }
}
