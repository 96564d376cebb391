import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { compactResult } from './salient.ts'
import { normaliseObservation } from './profile/repeatable.ts'
import { confirmPlan } from './plan.ts'
import { admitTools } from './safety.ts'
import { parseEnvironmentConfig } from './environment-config.ts'

test('the agoge entry of a server is read, and its mistakes are named', () => {
  expect(parseEnvironmentConfig(undefined, 'x')).toEqual({ reset: 'auto', observe: [] })
  const whole = { reset: { files: ['a'] }, observe: ['{files}'], env: { A: '{slot}/a' }, ignore: ['id'] }
  expect(parseEnvironmentConfig(whole, 'x')).toEqual(whole)
  expect(parseEnvironmentConfig({ resultLimit: 600 }, 'x')).toMatchObject({ resultLimit: 600 })
  const message = (value: unknown) => () => parseEnvironmentConfig(value, 'mcp.json: agoge.memory')
  expect(message({ reset: 'sometimes' })).toThrow('mcp.json: agoge.memory: "reset" is not usable')
  expect(message({ observe: 'read_graph' })).toThrow('"observe"')
  expect(message({ obsrve: [] })).toThrow('"obsrve"')
  expect(message({ env: { A: 1 } })).toThrow('"env"')
  expect(message({ resultLimit: 0 })).toThrow('"resultLimit"')
  expect(message({ reset: 'restart', observe: ['{files}'] })).toThrow('"observe"')
  expect(message({ connectSeconds: 0 })).toThrow('"connectSeconds"')
  expect(parseEnvironmentConfig({ connectSeconds: 90 }, 'x')).toMatchObject({ connectSeconds: 90 })
  expect(message('restart')).toThrow('"agoge"')
})

test('the annotations and flags decide which tools may run', () => {
  const inputSchema = { type: 'object' }
  const specs = [
    { name: 'look', inputSchema, annotations: { readOnlyHint: true } },
    { name: 'change', inputSchema },
    { name: 'lie', inputSchema, annotations: { readOnlyHint: false, destructiveHint: false } },
  ]
  const admitted = (...rest: [Parameters<typeof admitTools>[2], Parameters<typeof admitTools>[3]?]) =>
    admitTools('s', specs, ...rest).admitted.map((tool) => `${tool.spec.name} ${tool.kind} ${tool.why}`)
  const none = { reset: 'none' as const, observe: [] }
  const full = { reset: 'restart' as const, observe: ['look'] }
  expect(admitted(none)).toEqual(['look read readOnlyHint'])
  expect(admitted(full)).toEqual(['look read readOnlyHint'])
  // What says nothing of itself is tried. Without a reset a change could not be judged.
  const tried = ['look read readOnlyHint', 'change unknown --sandbox']
  expect(admitted(none, { sandbox: true })).toEqual(tried)
  // What shows a change is found by trying.
  expect(admitted({ reset: 'restart', observe: [] }, { sandbox: true })).toEqual([
    ...tried,
    'lie write --sandbox',
  ])
  expect(admitted(full, { allow: ['change'] })).toEqual(['look read readOnlyHint', 'change unknown --allow'])
  expect(admitted(full, { sandbox: true })).toEqual([...tried, 'lie write --sandbox'])
  // Whoever names a tool that says nothing of itself in "observe" says that it reads.
  expect(admitted({ reset: 'restart', observe: ['change'] }, { sandbox: true })).toContain(
    'change read --sandbox',
  )
  expect(() => admitted({ reset: 'restart', observe: ['lie'] }, { sandbox: true })).toThrow('cannot observe')
  expect(() => admitTools('s', specs.slice(1), none)).toThrow('no tool of the MCP server "s" may run')
})

test('the plan needs a yes, from a terminal or beforehand', async () => {
  const terminal = (reply: string) => Object.assign(new PassThrough(), { isTTY: true }).end(reply)
  const output = new PassThrough()
  await confirmPlan('the plan', { yes: true, output })
  expect(String(output.read())).toContain('the plan')
  await confirmPlan('p', { input: terminal('y\n'), output })
  await expect(confirmPlan('p', { input: terminal('\n'), output })).rejects.toMatchObject({
    code: 'not-confirmed',
  })
  const pipe = new PassThrough()
  await expect(confirmPlan('p', { input: pipe, output })).rejects.toMatchObject({
    code: 'confirmation-needed',
  })
})

test('results are compact and states comparable', () => {
  expect(compactResult('{\n  "a": [1,\n 2]\n}')).toBe('{"a":[1,2]}')
  expect(compactResult('one\n\n\ntwo ')).toBe('one\ntwo')
  expect(compactResult('x'.repeat(500), 10)).toBe('xxxxxxxxx…')
  expect(compactResult('😀'.repeat(20), 5)).toBe('😀😀😀😀…')
  const state = (text: string, ignore?: string[]) => normaliseObservation(text, ignore)
  expect(state('{"b":1,"a":[{"n":2},{"n":1}]}')).toBe(state('{"a":[{"n":1},{"n":2}],"b":1}'))
  expect(state('{"a":["x","y"]}')).not.toBe(state('{"a":["y","x"]}'))
  expect(state('{"id":1,"n":2}', ['id'])).toBe(state('{"id":7,"n":2}', ['id']))
  expect(state(' a  b\n')).toBe('a b')
})

test('a service whose reset could not work is refused', () => {
  const parse = (service: unknown) => () => parseEnvironmentConfig({ service }, 'agoge.crm')
  expect(parse({ kind: 'redis', reset: 'redis-cli flushall' })).toThrow('"service.reset" is not usable')
  expect(parse({ start: 'serve' })).toThrow('"service" is not usable')
  expect(parse({ start: 'serve', reset: 'clear' })).not.toThrow()
  expect(parse({ kind: 'postgres', reset: 'clear.sh' })).not.toThrow()
})
