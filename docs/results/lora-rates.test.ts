import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { loraRatesPage } from '../../scripts/lora-rates/page.ts'
import { bestOf, jobs } from '../../scripts/lora-rates/plan.ts'
import type { JobName, JobResults } from '../../scripts/lora-rates/plan.ts'

const read = (file: string): string => readFileSync(new URL(file, import.meta.url), 'utf8')
const results = Object.fromEntries(
  Object.keys(jobs).map((name) => [name, JSON.parse(read(`lora-rates/${name}.json`)) as JobResults]),
)

test('the page is that of the stored trainings', () => {
  expect(read('lora-rates.md')).toBe(loraRatesPage(results))
})

test.each(['sft-adamw', 'grpo'] satisfies JobName[])(
  '%s: the best rate of LoRA is half a decade above that of all weights, inside the grid',
  (name) => {
    const best = (arm: string) => bestOf(name, results[name].rows, arm)
    for (const arm of ['all', 'LoRA 4', 'LoRA 16']) expect(best(arm).inside).toBe(true)
    for (const arm of ['LoRA 4', 'LoRA 16']) expect(best(arm).exponent).toBe(best('all').exponent + 1)
  },
)
