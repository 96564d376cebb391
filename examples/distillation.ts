// On-policy distillation: the student samples answers, and the teacher gives the log-probability of each token.
import { loadModel } from 'agoge'
import {
  answerSequence,
  applyUpdate,
  distil,
  encodeConversation,
  imitationSequence,
  sampleAnswers,
} from 'agoge/llm'

const steps = Number(process.env['STEPS'] ?? 40)
const { backend: teacher, tokenizer } = await loadModel()
const { backend: student } = await loadModel()
const stop = [tokenizer.special('<|end|>')]
const names = ['Ada', 'Bo', 'Cleo', 'Dan', 'Eve', 'Finn', 'Gus', 'Hana']
const prompts = names.map((name) => {
  const { tokens } = encodeConversation(tokenizer, [{ role: 'user', text: `I am ${name}.` }])
  return Int32Array.of(...tokens, tokenizer.special('<|assistant|>'))
})

// The teacher is the same model after supervised fine-tuning on greetings.
const tokens = Int32Array.of(...tokenizer.encode('Welcome here.'), ...stop)
const greetings = prompts.map((prompt) => imitationSequence({ prompt, tokens }, { weight: 1 / 40 }))
const update = { sequences: greetings, loss: { name: 'cross_entropy' } } as const
for (let step = 0; step < 8; step++) await applyUpdate(teacher, update, { learningRate: 3e-4, clip: 1 })

const settings = { maxTokens: 12, stop, seed: 0, groupSize: 8 }
const collect = async (step: number) => {
  const answers = await sampleAnswers(student, prompts, { ...settings, name: `${step}` })
  return answers.flat().map((answer) => answerSequence(answer))
}
const curve = await distil({ student, teacher, steps, collect, learningRate: 1e-4, clip: 1 })
const [first, last] = [curve[0], curve[curve.length - 1]].map(({ reverseKl }) => reverseKl.toFixed(2))
console.log(`divergence a token: ${first} -> ${last}`)
await Promise.all([student.dispose(), teacher.dispose()])
