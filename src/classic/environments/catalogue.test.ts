import { readdirSync } from 'node:fs'
import { expect, test } from 'vitest'
import type { EnvironmentDefinition, MultiAgentDefinition } from '../environment/index.ts'
import { classicEnvironments, multiAgentEnvironments, namedEnvironments } from './catalogue.ts'

const definitions = Object.entries(namedEnvironments)
const folder = new URL('.', import.meta.url)
const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((file) =>
  /(?<!\.test)\.ts$/.test(file),
)

/** The environments that the modules of this folder export, by name. */
async function exportedBy(file: string): Promise<[string, EnvironmentDefinition | MultiAgentDefinition][]> {
  const module = (await import(new URL(file, folder).href)) as Record<string, unknown>
  return Object.entries(module).flatMap(
    ([name, value]): [string, EnvironmentDefinition | MultiAgentDefinition][] =>
      typeof value === 'object' && value !== null && 'stateSize' in value && 'observe' in value
        ? [[name, value as EnvironmentDefinition]]
        : [],
  )
}

test('every environment of this folder is in catalogue.ts exactly once', async () => {
  const missing: string[] = []
  const found = new Set<EnvironmentDefinition | MultiAgentDefinition>()
  for (const file of files) {
    for (const [name, definition] of await exportedBy(file)) {
      found.add(definition)
      const isListed =
        'agents' in definition
          ? Object.hasOwn(multiAgentEnvironments, definition.name)
          : classicEnvironments[definition.name] === definition
      if (!isListed) missing.push(`${name} of ${file}`)
    }
  }
  expect(missing, 'add them to src/classic/environments/catalogue.ts').toEqual([])
  // This does not find definitions that no module exports.
  expect(found.size).toBe(definitions.length)
  expect(found.size).toBeGreaterThan(25)
})

test.each(definitions)('%s has context features with defaults inside their ranges', (_name, definition) => {
  const features = Object.values(definition.context)
  expect(features.length).toBeGreaterThan(0)
  for (const { default: usual, low, high, extrapolate = [low, high], about } of features) {
    expect(low).toBeLessThanOrEqual(usual)
    expect(usual).toBeLessThanOrEqual(high)
    expect(extrapolate[0]).toBeLessThanOrEqual(low)
    expect(high).toBeLessThanOrEqual(extrapolate[1])
    expect(about).not.toBe('')
  }
})
