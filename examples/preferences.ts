// Direct preference optimisation: the small model learns to be polite to people it has not met.
import { loadModel } from 'agoge'
import { encodeConversation, dpo, trainPreferences } from 'agoge/llm'

const steps = Number(process.env['STEPS'] ?? 30)
const names = ['Ada', 'Bo', 'Cleo', 'Dan', 'Eve', 'Finn', 'Gus', 'Hana', 'Ivo', 'Jo', 'Kim', 'Lea']
const { backend, tokenizer } = await loadModel()
const pairs = names.map((name) => {
  const { tokens } = encodeConversation(tokenizer, [{ role: 'user', text: `I am ${name}.` }])
  const answer = (text: string) => Int32Array.of(...tokenizer.encode(text), tokenizer.special('<|end|>'))
  return {
    prompt: Int32Array.of(...tokens, tokenizer.special('<|assistant|>')),
    chosen: answer(`Welcome ${name}.`),
    rejected: answer(`Go away ${name}.`),
  }
})
const { steps: curve, best } = await trainPreferences({
  backend,
  method: dpo({ beta: 0.1 }),
  examples: pairs.slice(4),
  validation: pairs.slice(0, 4),
  steps,
  batch: 8,
  learningRate: 1e-4,
  validateEvery: 5,
})
console.log(`loss: ${curve[0].loss.toFixed(3)} -> ${curve[curve.length - 1].loss.toFixed(3)}`)
console.log(`held-out pairs in the right order: ${100 * best.accuracy}%`)
await backend.dispose()
