import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { agentProject } from '../testing/agent-project.ts'
import { agoge } from '../testing/agoge.ts'

const folder = agentProject()
const at = (name: string): string => join(folder, name)
const evaluating = (config: string, ...words: string[]) => agoge('eval', '-c', at(config), ...words)

test('agoge eval shows a table and comparisons, and compares with an earlier evaluation', async () => {
  const first = await evaluating('agoge.config.mjs', '--out', at('first'), '--trials', '2')
  expect([first.code, first.out]).toEqual([
    0,
    expect.stringMatching(/success +100% \(\d+–100\) +50% \(\d+–\d+\)/),
  ])
  expect(first.out).toContain('test/half less test/good, paired over 10 tasks: ')
  expect(first.err).toContain('10 tasks, 2 trials each, with test/good, test/half')
  const baseline = ['--baseline', at('first'), '--fail-on-regression']
  const files = ['--markdown', at('x.md'), '--junit', at('x.xml'), '--json', at('x.json')]
  const second = await evaluating('agoge.config.mjs', '--out', at('second'), ...baseline, ...files)
  expect(second.code).toBe(0)
  expect(second.out).toContain('test/good less test/good of the earlier evaluation, paired over 10 tasks: +0')
  expect(readFileSync(at('x.md'), 'utf8')).toContain('### Agent evaluation: no regression shown')
  expect(readFileSync(at('x.xml'), 'utf8')).toContain(
    '<testsuite name="test/half" tests="10" failures="5" errors="0">',
  )
  const changed = readFileSync(at('agoge.config.mjs'), 'utf8').replace('() => true', '() => false')
  writeFileSync(at('worse.mjs'), changed)
  const third = await evaluating(
    'worse.mjs',
    '--out',
    at('third'),
    '--baseline',
    at('x.json'),
    '--fail-on-regression',
  )
  expect([third.code, third.err]).toEqual([
    2,
    expect.stringContaining('test/good is worse than in the earlier evaluation'),
  ])
  const low = await evaluating('agoge.config.mjs', '--out', at('fourth'), '--threshold', '60%')
  expect([low.code, low.err]).toEqual([2, expect.stringContaining('test/half: 50% is below the threshold')])
})

test('agoge diff shows the tasks that changed, with two conversations side by side', async () => {
  const models = [`${at('first')}#test/good`, `${at('first')}#test/half`]
  const { code, out } = await agoge('diff', ...models, '--count', '1')
  expect(code).toBe(0)
  expect(out).toContain('5 of 10 tasks changed: 0 better, 5 worse; b less a: -50.0 points')
  expect(out).toContain('1 (own): 2 of 2 → 0 of 2')
  // What both were asked stands there once; then their answers, beside each other.
  expect(out).toMatch(/^user: first task 1 after *$/m)
  expect(out).toMatch(/^assistant: 1 +\| assistant: -1$/m)
  expect(out.match(/^assistant/gm)).toHaveLength(2)
  const same = await agoge('diff', models[0], models[0])
  expect(same.out).toContain('0 of 10 tasks changed')
  const unclear = await agoge('diff', at('first'), at('second'))
  expect([unclear.code, unclear.err]).toEqual([1, expect.stringContaining('#test/good or ')])
})

test('a budget stops an evaluation, and a larger one continues it', async () => {
  // A call costs 13 millionths of a dollar, and may cost about 0.0053.
  const small = ['--out', at('small'), '--budget', '0.0055']
  const { code, out, err } = await evaluating('agoge.config.mjs', ...small)
  expect([code, out]).toEqual([0, expect.stringMatching(/not complete: \d+ of 20 trials were finished/)])
  expect(err).toContain(
    `to continue: agoge eval --resume ${at('small')} -c ${at('agoge.config.mjs')} --budget MORE`,
  )
  const rest = await evaluating('agoge.config.mjs', '--resume', at('small'), '--budget', '1')
  expect([rest.code, rest.out]).toEqual([0, expect.not.stringContaining('not complete')])
})

test('mistakes on the command line are reported', async () => {
  const config = ['-c', at('agoge.config.mjs')]
  const failing: [string[], RegExp][] = [
    [['-c', 'none.ts'], /none\.ts cannot be used as a config/],
    [[...config, '--fail-on-regression'], /needs something to compare with/],
    [[...config, '--temperature', '1'], /--temperature means nothing for/],
    [['cartpole', '--trials', '2'], /--trials means nothing for cartpole/],
    [['cartpole', ...config], /two different things/],
    [[...config, '--baseline', at('none.json')], /none\.json/],
    [[...config, '--out', at('first')], /--resume/],
  ]
  for (const [words, message] of failing) {
    const { code, err } = await agoge('eval', ...words)
    expect([code, err]).toEqual([1, expect.stringMatching(message)])
  }
})
