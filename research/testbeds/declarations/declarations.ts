import { AgogeError } from 'agoge'

type Values = Record<string, number>
type Expression = (values: Values) => number

const operators: Record<string, [number, (a: number, b: number) => number]> = {
  or: [1, (a, b) => a || b],
  and: [2, (a, b) => a && b],
  '=': [3, (a, b) => Number(a === b)],
  '<': [3, (a, b) => Number(a < b)],
  '+': [4, (a, b) => a + b],
  '-': [4, (a, b) => a - b],
  '*': [5, (a, b) => a * b],
}

const levelOf = (token: string | undefined): number =>
  token !== undefined && Object.hasOwn(operators, token) ? operators[token][0] : 0

/** Parses `row < 4 and not aboard`: numbers, names, parentheses, `not`, and the operators above. */
function expression(text: string): Expression {
  const tokens = text.match(/\d+|\w+|[-+*=<()]/g) ?? []
  const operand = (): Expression => {
    const token = tokens.shift()
    if (token === undefined || /^[-+*=<)]$/.test(token))
      throw new AgogeError(`no expression: ${text}`, {
        code: 'bad-argument',
        given: text,
        expected: 'an operand',
      })
    if (token === 'not')
      return (
        (of) => (values) =>
          Number(of(values) === 0)
      )(operand())
    if (/^\d/.test(token)) return () => Number(token)
    if (token !== '(') return (values) => values[token]
    const inner = binary(0)
    tokens.shift()
    return inner
  }
  const binary = (least: number): Expression => {
    let left = operand()
    while (levelOf(tokens[0]) > least) {
      const [level, apply] = operators[tokens.shift()!]
      const [first, second] = [left, binary(level)]
      left = (values) => apply(first(values), second(values))
    }
    return left
  }
  return binary(0)
}

/**
 * Grounds a program over numbered states: for every state and action the next state (-1 if the program says nothing), the reward, and 1
 * where the episode ends. A line is one of `factor NAME SIZE` (the last changes fastest in the number of a state), `actions NAME ...`,
 * `define NAME := EXPRESSION`, `effect CONDITION then FACTOR := EXPRESSION`, `reward CONDITION then EXPRESSION`, `end CONDITION`.
 *
 * @throws AgogeError `bad-argument` for an expression that cannot be read
 */
export function ground(program: string) {
  const lines = program
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/ (.*)/s))
  const parts = (word: string): string[] => lines.filter(([first]) => first === word).map(([, rest]) => rest)
  const factors = parts('factor')
    .map((line) => line.split(' '))
    .map(([name, size]) => ({ name, size: Number(size) }))
  const rules = (word: string) =>
    parts(word)
      .map((line) => line.split(/:=| then /).map((part) => part.trim()))
      .map(([name, ...rest]) => ({
        name: rest.length > 1 ? rest[0] : name,
        holds: expression(name),
        value: expression(rest.at(-1) ?? '1'),
      }))
  const [defined, effects, rewards, ends] = ['define', 'effect', 'reward', 'end'].map(rules)
  const states = factors.reduce((product, { size }) => product * size, 1)
  const known = parts('actions').join().split(' ')
  const tables = {
    next: new Int32Array(states * known.length).fill(-1),
    rewards: new Float64Array(states * known.length),
    ends: new Uint8Array(states * known.length),
  }
  for (let pair = 0; pair < tables.next.length; pair++) {
    const values: Values = Object.fromEntries(
      known.map((name, a) => [name, Number(a === pair % known.length)]),
    )
    let rest = Math.floor(pair / known.length)
    for (const { name, size } of [...factors].reverse()) {
      values[name] = rest % size
      rest = Math.floor(rest / size)
    }
    for (const { name, value } of defined) values[name] = value(values)
    const after = { ...values }
    for (const { name, value } of effects.filter(({ holds }) => holds(values) !== 0)) {
      after[name] = value(values)
      tables.next[pair] = factors.reduce((code, factor) => code * factor.size + after[factor.name], 0)
    }
    for (const { value } of rewards.filter(({ holds }) => holds(values) !== 0))
      tables.rewards[pair] = value(values)
    tables.ends[pair] = Number(ends.some(({ holds }) => holds(values) !== 0))
  }
  return { ...tables, actions: known.length }
}

/** Action values of the part that a program declares [states, actions]; what it does not say is worth 0. */
export function declaredValues(program: string, gamma: number): Float64Array {
  const { next, rewards, ends, actions } = ground(program)
  const q = new Float64Array(next.length)
  for (let sweep = 0; sweep < 200; sweep++)
    for (let pair = 0; pair < q.length; pair++) {
      const from = next[pair] * actions
      const future = next[pair] < 0 || ends[pair] === 1 ? 0 : Math.max(...q.subarray(from, from + actions))
      q[pair] = rewards[pair] + gamma * future
    }
  return q
}
