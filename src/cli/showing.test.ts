import { expect, test } from 'vitest'
import { AgogeError } from '../error.ts'
import { InfrastructureError } from '../llm/tool/tool.ts'
import { describeError, sparkline, table } from './shared/console.ts'
import { checkNode } from './doctor.ts'
import { createProgress } from './shared/progress.ts'

test('a sparkline scales, averages and leaves gaps', () => {
  expect(sparkline([0, 1, 2, 3, 4, 5, 6, 7], 8)).toBe('▁▂▃▄▅▆▇█')
  expect(sparkline([0, 0, 1, 1], 2)).toBe('▁█')
  expect(sparkline([0.5, 0.5], 8)).toBe('▁▁')
  expect(sparkline([0, NaN, 1], 8)).toBe('▁ █')
  expect(sparkline([0.5], 8, { low: 0, high: 1 })).toBe('▅')
  expect(sparkline([], 8)).toBe('')
})

test('a table aligns its columns', () => {
  expect(
    table(
      ['name', 'value'],
      [
        ['a', '1'],
        ['longer', '12'],
      ],
    ),
  ).toBe(['name    value', '──────  ─────', 'a           1', 'longer     12'].join('\n'))
})

test('errors say what was given, expected and to be done, and show a stack only on demand', () => {
  const error = new AgogeError('No such environment.', {
    code: 'bad-argument',
    given: 'wrld',
    expected: 'an environment',
    hint: 'look',
  })
  expect(describeError(error, false)).toBe(
    'error: No such environment.\n  given:    wrld\n  expected: an environment\n  hint:     look',
  )
  expect(describeError(error, true)).toContain('showing.test.ts')
  expect(describeError(new Error('odd'), false)).toContain('--debug')
  const down = new InfrastructureError('the server is down', { hint: 'start it' })
  expect(describeError(down, false)).toBe('error: the server is down\n  hint:     start it')
  const caused = new AgogeError('outer', {
    code: 'bad-argument',
    given: { n: 3n },
    cause: new Error('inner'),
  })
  expect(describeError(caused, true)).toContain('caused by:')
  expect(describeError(caused, false)).toContain('{"n":"3"}')
  expect(describeError('thrown text', false)).toBe('error: thrown text')
  const full = { code: 'ENOSPC', syscall: 'write' }
  expect(describeError(Object.assign(new Error('ENOSPC'), { ...full, path: '/disk/x' }), false)).toMatch(
    /^error: Cannot write or read \/disk\/x: the disk is full \(ENOSPC\)\n[\s\S]*Make room/,
  )
  expect(describeError(Object.assign(new Error('ENOSPC'), full), false)).toMatch(/a file: the disk is full/)
  expect(describeError(new RangeError('Array buffer allocation failed'), false)).toMatch(
    /^error: There is not enough memory\n[\s\S]*hint: +Raise the limit/,
  )
})

test('doctor knows which Node is too old', () => {
  expect(checkNode('20.18.9').level).toBe('fail')
  expect(checkNode('20.19.0').level).toBe('ok')
  expect(checkNode('18.99.0')).toMatchObject({ level: 'fail', repair: expect.any(String) })
  expect(checkNode('26.0.0').level).toBe('ok')
})

/** What a terminal of these writes shows, understanding only the two escapes that progress uses. */
function screen(writes: readonly string[]): string[] {
  let lines = ['']
  for (const text of writes) {
    // oxlint-disable-next-line no-control-regex -- ANSI escapes begin with ESC.
    for (const [piece, up] of text.matchAll(/\u001B\[(\d+)A|\u001B\[J|\n|[^\u001B\n]+/g)) {
      if (up !== undefined) lines = [...lines.slice(0, lines.length - 1 - Number(up)), '']
      else if (piece === '\n') lines.push('')
      else if (!piece.startsWith('\u001B')) lines[lines.length - 1] += piece
    }
  }
  return lines
}

function play(isTTY: boolean): string[] {
  const writes: string[] = []
  const progress = createProgress(
    { write: (text) => writes.push(text), isTTY, columns: 100 },
    { everySeconds: 0 },
  )
  progress.event({ type: 'phase', name: 'base', total: null })
  const success = { mean: 0.02, low: 0.01, high: 0.04, n: 400 }
  progress.event({ type: 'evaluation', stage: 'base', split: 'test', done: 128, total: 400, success })
  progress.event({ type: 'evaluation', stage: 'base', split: 'test', done: 400, total: 400, success })
  progress.event({ type: 'phase', name: 'rl', total: 150 })
  for (let step = 1; step <= 9; step++) {
    progress.event({
      type: 'step',
      phase: 'rl',
      step,
      total: 150,
      seconds: 2,
      metrics: { reward: step / 10, success: step / 10, tokensPerSecond: 14_100, invalidCalls: 0.02 },
    })
  }
  progress.event({
    type: 'step',
    phase: 'rl-validation',
    step: 9,
    total: null,
    seconds: 0,
    metrics: { success: 0 },
  })
  progress.event({ type: 'note', text: 'two episodes were masked' })
  progress.event({ type: 'phase', name: 'rl-test', total: null })
  progress.close()
  return writes
}

test('without a terminal progress is plain lines', () => {
  const text = play(false).join('')
  expect(text).not.toContain('\u001B')
  expect(text).toContain('base model: 128/400 test tasks, 2% so far\n')
  expect(text).toContain('base model: 2% (1–4) of 400 test tasks\n')
  expect(text).toMatch(
    /reinforcement learning {2}step 9\/150 .*about 4 min 42 s left.*success 90%.*14\.1k tokens\/s/,
  )
  expect(text).toContain('two episodes were masked\n')
  expect(text).toMatch(/reinforcement learning: 9 steps in .*, reward 0.9, success 90%\n/)
})

test('on a terminal only what is finished stays', () => {
  const lines = screen(play(true))
  expect(lines[0]).toBe('base model: 2% (1–4) of 400 test tasks')
  expect(lines[1]).toBe('two episodes were masked')
  expect(lines[2]).toMatch(/^reinforcement learning: 9 steps/)
  expect(lines.slice(3)).toEqual([''])
})
