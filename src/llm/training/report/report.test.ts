import { expect, test } from 'vitest'
import type { Estimate } from '../../../statistics/statistics.ts'
import type { ReportInput, StageName, StageSummary, TrainingSummary } from '../types.ts'
import {
  count,
  decimal,
  duration,
  percent,
  percentInterval,
  pointsInterval,
} from '../../../runs/report/format.ts'
import { breakName } from '../../../runs/report/page.ts'
import { headline, renderReport } from './render-report.ts'
import { resultText } from '../../../cli/llm/train-text.ts'

const estimate = (mean: number, n = 400, half = 0.03): Estimate => ({
  mean,
  low: Math.max(0, mean - half),
  high: Math.min(1, mean + half),
  n,
})

function stage(name: StageName, success: number): StageSummary {
  const taskKinds = { read: success, 'find-and-move': success / 2 }
  return {
    name,
    success: estimate(success),
    kinds: taskKinds,
    kindEstimates: { read: estimate(success, 200), 'find-and-move': estimate(success / 2, 200) },
    calls: 1.74,
    invalidCalls: 0.031,
    masked: 0,
    tokens: 61.2,
    seconds: name === 'base' ? 0 : 71,
    evaluationSeconds: 9,
  }
}

function summaryOf(stages: StageSummary[]): TrainingSummary {
  return {
    schema: 1,
    command: 'agoge train',
    machine: { platform: 'linux x64', cpu: 'A Processor', cores: 2, memoryGiB: 16, node: 'v22.0.0' },
    seconds: 301,
    seed: 0,
    stages,
    gain: { mean: 0.31, low: 0.25, high: 0.37, n: 400 },
    unseenParaphrases: { success: estimate(0.44, 132), kinds: {} },
    demonstrations: { read: 60, 'find-and-move': 20 },
    cost: { seconds: 301, sampledTokens: 1_310_000, calls: 41_200, episodes: 19_200, masked: 2 },
    samples: [
      {
        task: 't',
        kind: 'read',
        prompt: 'what does <script>alert(1)</script> say & why',
        before: [
          { role: 'user', text: 'what' },
          { role: 'assistant', text: '{"name":"read', invalid: 'no JSON <b>' },
        ],
        after: [
          {
            role: 'assistant',
            text: '',
            calls: [{ name: 'read_text_file', arguments: { path: '/a "b".txt' } }],
          },
          { role: 'tool', text: 'no such file <i>', isError: true },
          { role: 'assistant', text: 'it says hello' },
        ],
      },
    ],
    model: '/runs/x/checkpoints/final',
  }
}

const metrics: ReportInput['metrics'] = Array.from({ length: 150 }, (_, step) => ({
  phase: 'rl',
  step: step + 1,
  seconds: 1.3,
  metrics: {
    reward: 0.3 + step / 300 + 0.05 * Math.sin(step),
    success: 0.35 + step / 260 + 0.05 * Math.sin(step),
    invalidCalls: 0.2 / (1 + step / 10),
    entropy: step === 3 ? NaN : 0.4 - step / 1000,
    kl: 0.0001 * (1 + Math.sin(step)),
  },
}))

const input: ReportInput = {
  summary: summaryOf([
    stage('base', 0.02),
    stage('warm-start', 0.51),
    stage('supervised', 0.6),
    stage('rl', 0.93),
  ]),
  metrics,
  config: { schema: 1, note: '</pre><script>' },
}

test('the report is one page that loads nothing and runs no script', () => {
  const page = renderReport(input)
  expect(page).not.toMatch(/<script|<link|<img|src=|@import|url\(/)
  expect(page).not.toContain('NaN')
  expect(page).not.toContain('undefined')
  expect(page).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
  expect(page).toContain('no such file &lt;i&gt;')
  expect(page).toContain('&lt;/pre&gt;')
})

test('the tags of the report are balanced', () => {
  const open: string[] = []
  for (const [, closing, name, attributes] of renderReport(input).matchAll(
    /<(\/?)([a-z0-9]+)((?:"[^"]*"|[^">])*)>/g,
  )) {
    if (['meta', 'br'].includes(name) || attributes.endsWith('/')) continue
    if (closing === '') open.push(name)
    else expect(open.pop()).toBe(name)
  }
  expect(open).toEqual([])
})

test('the report holds the figures', () => {
  const page = renderReport(input)
  expect(page).toContain('93% (90–96)')
  expect(page).toContain('+31.0 points (25.0 to 37.0)')
  expect(page).toContain('RL did better')
  expect(page).toContain('44% (41–47)')
  expect(page).toContain('5 min 1 s')
  expect(page).toContain('read_text_file({&quot;path&quot;')
  for (const curve of ['Success while sampling', 'Reward', 'Invalid calls', 'Entropy', 'KL between']) {
    expect(page).toContain(curve)
  }
  // There are no records for it, so there is no empty chart.
  expect(page).not.toContain('Gradient norm')
})

test('by kind: every stage has its value, and no name is cut off', () => {
  const { kinds: taskKinds, kindEstimates } = stage('rl', 0.93)
  const long = 'create_entities_with_observations+get-structured-content-of-a-place'
  const rl = {
    ...stage('rl', 0.93),
    kinds: { ...taskKinds, [long]: 0.77 },
    kindEstimates: { ...kindEstimates, [long]: estimate(0.77, 40) },
  }
  const page = renderReport({
    ...input,
    summary: summaryOf([stage('base', 0.02), stage('warm-start', 0.51), rl]),
  })
  const chart = page.slice(page.indexOf('<h2>By kind of task'), page.indexOf('<h2>Cost'))
  const texts = (kind: string): string[] =>
    [...chart.matchAll(new RegExp(`class="${kind}"[^>]*>([^<]*)</text`, 'g'))].map(([, text]) => text)
  // Three kinds of task in three stages. A kind without tasks in a stage has a dash.
  expect(texts('value')).toEqual(['2%', '51%', '93%', '1%', '26%', '47%', '–', '–', '77%'])
  expect(texts('label end').slice(2).join('')).toBe(long)
  // The widest letters of a common font are 0.6 em wide: no label starts left of the picture.
  for (const [, x, text] of chart.matchAll(/class="label end" x="([\d.]+)"[^>]*>([^<]*)</g))
    expect(Number(x)).toBeGreaterThan(text.length * 13 * 0.54)
})

test('long names break at their separators', () => {
  expect(breakName('read', 8)).toEqual(['read'])
  expect(breakName('find-and-move', 9)).toEqual(['find-and-', 'move'])
  expect(breakName('a-verylongwordwithout', 9)).toEqual(['a-verylon', 'gwordwith', 'out'])
  expect(breakName('one two', 5)).toEqual(['one', 'two'])
})

test('what earlier versions recorded of rewards for failures is left out', () => {
  const stages = [stage('base', 0.1), stage('rl', 0.9)]
  const reported = { judged: 400, failed: 30, rewardedFailures: 0, share: 0 }
  const summary = {
    ...summaryOf(stages.map((each) => ({ ...each, rewardToFailed: reported }))),
    rewardToFailed: reported,
  }
  const page = renderReport({ summary, metrics, config: {} })
  expect(page).toBe(renderReport({ summary: summaryOf(stages), metrics, config: {} }))
  expect(page).not.toMatch(/paid|undefined/)
  expect(resultText(summary)).toBe(resultText(summaryOf(stages)))
  expect(resultText(summary)).not.toMatch(/paid|undefined/)
})

test('a gain over too few tasks says so', () => {
  const gain = { mean: 0.5, low: null, high: null, n: 4, noInterval: 'no interval: n = 4, fewer than 5' }
  const page = renderReport({ summary: { ...summaryOf([stage('rl', 0.9)]), gain }, metrics, config: {} })
  expect(page).toContain('+50.0 points (no interval: n = 4, fewer than 5)')
  expect(page).toContain('the two cannot be distinguished')
})

test('the headline claims no more than the intervals allow', () => {
  const of = (...stages: [StageName, number][]) =>
    headline(summaryOf(stages.map(([name, mean]) => stage(name, mean))))
  expect(of(['base', 0.02], ['warm-start', 0.5], ['rl', 0.9])).toBe(
    'Success on 400 held-out tasks rose from 2% (0–5) to 90% (87–93), by way of 50% after the warm start.',
  )
  expect(of(['base', 0.02], ['warm-start', 0.5], ['rl', 0.52])).toContain('RL in this is not clear of chance')
  expect(of(['base', 0.5], ['warm-start', 0.5], ['rl', 0.52])).toContain('No clear change')
  expect(of(['base', 0.5], ['warm-start', 0.4], ['rl', 0.1])).toContain('fell from 50%')
})

test('numbers are written for people', () => {
  expect([0, 0.004, 0.0432, 0.1, 0.934, 1].map(percent)).toEqual(['0%', '0.4%', '4.3%', '10%', '93%', '100%'])
  expect(percentInterval({ mean: 0, low: 0, high: 0, n: 0 })).toBe('–')
  expect(pointsInterval({ mean: -0.012, low: -0.05, high: 0.026, n: 9 })).toBe('-1.2 points (-5.0 to 2.6)')
  expect([0.42, 9.96, 52.4, 59.7, 60, 252, 3600, 7500].map(duration)).toEqual([
    '0.4 s',
    '10.0 s',
    '52 s',
    '1 min',
    '1 min',
    '4 min 12 s',
    '1 h 00 min',
    '2 h 05 min',
  ])
  expect([7, 1.234, 812, 9999, 14_230, 999_499, 1_310_000].map(count)).toEqual([
    '7',
    '1.23',
    '812',
    '9999',
    '14.2k',
    '999k',
    '1.31M',
  ])
  expect([0, 0.62345, 0.00012, 12.345, 400].map(decimal)).toEqual(['0', '0.623', '1.2e-4', '12.3', '400'])
})

test('the result names its algorithm, and remarks stand below it', () => {
  const summary = {
    ...summaryOf([stage('base', 0), stage('rl', 0)]),
    algorithm: 'rloo',
    remarks: ['Success stayed at 0% & why'],
  }
  expect(headline(summary)).toMatch(/^rloo: No clear change: /)
  const page = renderReport({ summary, metrics, config: {} })
  expect(page).toContain('<p class="headline">rloo: ')
  expect(page).toContain('<p class="remark">Success stayed at 0% &amp; why</p>')
})
