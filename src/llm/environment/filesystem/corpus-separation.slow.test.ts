import { expect, test } from 'vitest'
import { corpusConversation } from '../../pretraining/corpus/conversation.ts'
import { templateWords } from '../definition/prompt-templates.ts'
import { filesystemTasks } from './tasks.ts'
import { unseenTemplates, unseenWords } from './paraphrases.ts'
import { oneCallTemplates } from './training-templates/one-call.ts'
import { severalCallTemplates } from './training-templates/several-calls.ts'

const known = Object.values(filesystemTasks.templates).flatMap(({ all }) => all.map(({ text }) => text))
const [sentences, words] = [unseenTemplates, unseenWords].map((each) => Object.values(each).flat())
const templates = [...known, ...sentences, ...words]
/** The further templates of training, as patterns. */
const patterns = Object.values({ ...oneCallTemplates, ...severalCallTemplates }).flat()

/** Every word the benchmark words its requests with; whatever else stands in a request is a name or a text. */
const paraphrase = new Set(
  [...templates, ...patterns.map((pattern) => pattern.replaceAll(/[[\]|]/g, ' '))].flatMap((text) =>
    templateWords(text).map((word) => word.toLowerCase()),
  ),
)
const politeness = new Set('please can could would you now hey kindly i want need to thanks well'.split(' '))

/** A request without politeness, capitals and punctuation, quoted texts and all but the benchmark's words masked. */
function skeleton(text: string): string {
  const pieces = text
    .toLowerCase()
    .replace(/"[^"]*"|'[^']*'/g, '#')
    .split(/\s+/)
    .map((piece) => piece.replace(/^[^\w/#=]+|[^\w/#=]+$/g, ''))
    .filter((piece) => piece !== '')
    .map((piece) => (paraphrase.has(piece) ? piece : '#'))
  while (politeness.has(pieces[0])) pieces.shift()
  while (politeness.has(pieces[pieces.length - 1])) pieces.pop()
  return pieces.join(' ')
}

const stages = ['general', 'decisions', 'described'] as const
const requests = Array.from({ length: 90_000 }, (_, seed) =>
  corpusConversation(seed, 'train', seed < 45_000 ? stages[seed % 3] : 'records').flatMap(({ role, text }) =>
    role === 'user' ? [text] : [],
  ),
).flat()

test('no request of the benchmark, names masked, is one of the base corpus', () => {
  const corpus = new Map(requests.map((text) => [skeleton(text), text]))
  const shared = new Map<string, string>()
  for (const split of ['train', 'validation', 'test', 'unseen-paraphrase'] as const) {
    for (let seed = 0; seed < 2000; seed += 1) {
      const { prompt } = filesystemTasks.task({ split, seed })
      const found = corpus.get(skeleton(prompt))
      if (found !== undefined) shared.set(prompt, found)
    }
  }
  expect([...shared].map(([prompt, found]) => `${prompt} = ${found}`)).toEqual([])
})

test('the check would find a request of the benchmark', () => {
  const { prompt } = filesystemTasks.task({ split: 'train', seed: 3 })
  const renamed = filesystemTasks
    .task({ split: 'train', seed: 3 })
    .prompt.replace(/\/[\w/.-]+/g, '/other/place.md')
  expect(renamed).not.toBe(prompt)
  expect(skeleton(renamed)).toBe(skeleton(prompt))
})

test('no prompt template of the benchmark stands whole in a request of the base corpus', () => {
  // The new sentences are of common words. They are compared by six words in a row, below.
  const fixed = [...known, ...words]
    .flatMap((text) => text.split(/"?<\w+>"?/))
    .map((part) => part.trim().toLowerCase())
    .filter((part) => part.split(/\s+/).length >= 5)
  const corpus = requests.join('\n').toLowerCase()
  const found = [...new Set(fixed)].filter((part) => corpus.includes(part))
  expect(found).toEqual([])
})

test('no six words in a row of a benchmark request, names left out, are in a request of the base corpus', () => {
  const grams = (text: string): string[] => {
    // A name or a text ends a run of words.
    const runs = text
      .toLowerCase()
      .replace(/"[^"]*"|\S*[\d/._]\S*/g, '|')
      .split(/[^a-z' ]+/)
    return runs.flatMap((run) => {
      const words = run.split(' ').filter((word) => word !== '')
      return words.slice(0, Math.max(0, words.length - 5)).map((_, at) => words.slice(at, at + 6).join(' '))
    })
  }
  const corpus = new Set(requests.flatMap(grams))
  const found = new Set<string>()
  const prompts = (['validation', 'test', 'unseen-paraphrase'] as const).flatMap((split) =>
    Array.from({ length: 1000 }, (_, seed) => filesystemTasks.task({ split, seed }).prompt),
  )
  // All templates that an evaluation or an earlier training had. What only training has may begin as any request does.
  for (const text of [...templates.map((template) => template.replace(/"?<\w+>"?/g, '|')), ...prompts])
    for (const gram of grams(text)) if (corpus.has(gram)) found.add(gram)
  expect([...found]).toEqual([])
})
