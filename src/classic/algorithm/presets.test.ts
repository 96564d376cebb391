import { expect, test } from 'vitest'
import { classicAlgorithms } from '../algorithms.ts'

// A run resumes with the settings in its config.json.
test.each(Object.entries(classicAlgorithms))('presets of %s survive JSON', (_, { presets }) => {
  expect(JSON.parse(JSON.stringify(presets))).toEqual(presets)
})
