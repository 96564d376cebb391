import { test } from 'vitest'
import { checkEnvironment } from '../classic/environment/index.ts'
import { createAdventure } from '../llm/environment/adventure/adventure.ts'

// Here, since neither product imports the other.
test('the text adventure keeps the contract of Gymnasium-style environments', () => {
  checkEnvironment(createAdventure())
})
