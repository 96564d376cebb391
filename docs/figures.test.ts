import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { pages, pictureHashes, readRun, withMetrics } from '../scripts/docs-figures.ts'
import { headline } from '../src/llm/training/report/render-report.ts'
import { percentInterval } from '../src/runs/report/format.ts'

const { summary, report } = readRun()
const read = (path: string): string => readFileSync(new URL(`../${path}`, import.meta.url), 'utf8')

test.each(Object.keys(pages) as (keyof typeof pages)[])('%s has the figures of the committed run', (page) => {
  expect(read(page)).toBe(withMetrics(read(page), pages[page](summary)))
})

test('the report is of the committed run, and the picture is of that report', () => {
  expect(report).toContain(headline(summary))
  for (const { success } of summary.stages) expect(report).toContain(percentInterval(success))
  expect(JSON.parse(read('docs/results/main-job/picture.json'))).toEqual(pictureHashes(report))
})

test('what is committed of the run names no folder of the machine it ran on', () => {
  expect(summary.command).toMatch(/^agoge train( --?[\w-]+( \w+)?)*$/)
  expect(summary.model).toBe('checkpoints/final')
  expect(report).not.toMatch(/(?<![\w<.])\/(work|home|root|Users|tmp|var)\//)
})

test('figures changed by hand are found', () => {
  const changed = {
    ...summary,
    stages: summary.stages.map((stage) => ({
      ...stage,
      success: { mean: 0.5, low: 0.4, high: 0.6, n: 405 },
    })),
  }
  for (const page of ['README.md', 'docs/results/main-job.md'] as const)
    expect(withMetrics(read(page), pages[page](changed))).not.toBe(read(page))
  expect(() => withMetrics('a page without markers', '')).toThrow(/has no line/)
})
