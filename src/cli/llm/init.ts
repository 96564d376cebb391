import { existsSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join, resolve } from 'node:path'
import { AgogeError } from '../../error.ts'
import { withFileErrors } from '../../runs/files.ts'
import type { Console } from '../shared/console.ts'
import { findConfig } from './eval-agent.ts'
import { createLineReader, type LineReader } from './line-reader.ts'

export interface InitCommand {
  /** Takes the default of every question. */
  yes?: boolean
}

interface Answers {
  models: string[]
  tasks: string
  judged: 'answer' | 'code'
  trials: number
  tokens: number | undefined
}

const defaults: Answers = {
  models: [],
  tasks: 'tasks.jsonl',
  judged: 'answer',
  trials: 3,
  tokens: 200_000,
}

/** `agoge init`: asks five questions and writes a config, with three tasks where there are none. */
export async function runInit(
  { yes = false }: InitCommand,
  terminal: Console,
  given?: LineReader,
): Promise<void> {
  const found = findConfig()
  if (found !== undefined)
    throw new AgogeError(`there is a ${found} here already`, {
      code: 'run-exists',
      given: resolve(found),
      expected: 'a folder without one',
      hint: `agoge eval runs it`,
    })
  const reader = yes ? undefined : (given ?? createLineReader(terminal.signal))
  try {
    if (reader !== undefined && !reader.interactive)
      throw new AgogeError('nobody can be asked: the input is no terminal', {
        code: 'bad-option',
        given: 'agoge init',
        expected: 'agoge init --yes, which takes the default of every question',
      })
    const answers = reader === undefined ? defaults : await askAll(reader)
    const hasSdk = canImport('ai')
    const name = readsTypeScript() ? 'agoge.config.ts' : 'agoge.config.mjs'
    const written = [name]
    if (!existsSync(answers.tasks)) {
      withFileErrors(answers.tasks, () => writeFileSync(answers.tasks, exampleTasks))
      written.push(answers.tasks)
    }
    withFileErrors(name, () => writeFileSync(name, configText(answers, hasSdk)))
    terminal.out(`wrote ${written.join(' and ')}; now: npx agoge eval`)
    if (answers.models.length > 0 && !hasSdk)
      terminal.out('models named PROVIDER/ID need the AI SDK: npm i ai, and AI_GATEWAY_API_KEY')
  } finally {
    reader?.close()
  }
}

async function askAll(reader: LineReader): Promise<Answers> {
  const ask = async (question: string): Promise<string> => {
    const line = await reader.ask(`${question} `)
    if (line === null)
      throw new AgogeError('the questions were not answered', {
        code: 'bad-option',
        expected: 'five answers',
      })
    return line.trim()
  }
  const number = async (question: string, least: number): Promise<number | undefined> => {
    for (;;) {
      const text = await ask(question)
      if (text === '') return undefined
      if (Number.isInteger(Number(text)) && Number(text) >= least) return Number(text)
    }
  }
  const models = await ask(
    'Which models? PROVIDER/ID, with commas between (Enter: the small one of Agoge, which needs no key)',
  )
  const tasks = await ask('Where are your tasks? A JSONL file (Enter: tasks.jsonl, with three examples)')
  const judged = await ask('What judges an answer: the expected one of the task, or code? (Enter: expected)')
  const trials = await number('How many trials of each task? (Enter: 3)', 1)
  const tokens = await number(
    'How many tokens may an evaluation use at most? 0: any number (Enter: 200000)',
    0,
  )
  return {
    models: models
      .split(',')
      .map((one) => one.trim())
      .filter((one) => one !== ''),
    tasks: tasks === '' ? defaults.tasks : tasks,
    judged: /^c/i.test(judged) ? 'code' : 'answer',
    trials: trials ?? defaults.trials,
    tokens: tokens === 0 ? undefined : (tokens ?? defaults.tokens),
  }
}

/** Whether a package is installed in or above the current folder. */
function canImport(name: string): boolean {
  try {
    createRequire(join(process.cwd(), 'agoge.config.js')).resolve(name)
    return true
  } catch {
    return false
  }
}

/** Node reads TypeScript from 22.18 on; before, `tsx` does, where it is installed. */
function readsTypeScript(): boolean {
  const [major, minor] = process.versions.node.split('.').map(Number)
  return major > 22 || (major === 22 && minor >= 18) || canImport('tsx')
}

function configText({ models, tasks, judged, trials, tokens }: Answers, hasSdk: boolean): string {
  const isLocal = models.length === 0
  const names = [
    ...(isLocal ? ['baseModelFolder'] : []),
    ...(judged === 'answer' ? ['answerMatches'] : []),
    'defineConfig',
    ...(isLocal ? ['run'] : []),
  ]
  const quoted = (text: string): string => `'${text.replaceAll(/['\\]/g, String.raw`\$&`)}'`
  const withSdk = `    const { text } = await generateText({ model, prompt: task.prompt, temperature: 0, abortSignal: signal })
    return text`
  const withoutSdk = `    const { content } = await model.doGenerate({
      prompt: [{ role: 'user', content: [{ type: 'text', text: task.prompt }] }],
      temperature: 0,
      abortSignal: signal,
    })
    return content.map((part) => ('text' in part ? part.text : '')).join('')`
  return `${hasSdk ? "import { generateText } from 'ai'\n" : ''}import { ${names.join(', ')} } from 'agoge'

export default defineConfig({
  // Your agent: does one task, and returns its answer. \`model\` is a model object of the AI SDK.
  agent: async (task, { model, signal }) => {
${hasSdk ? withSdk : withoutSdk}
  },
  tasks: ${quoted(tasks.startsWith('.') || tasks.startsWith('/') ? tasks : `./${tasks}`)},
  ${
    judged === 'answer'
      ? 'score: answerMatches(),'
      : `// 1 is done, less is not, null cannot be judged.
  score: ({ given, output }) => Number(output.includes(String(given.expected?.answer))),`
  }
  models: [${isLocal ? 'run(baseModelFolder)' : models.map(quoted).join(', ')}],
  trials: ${trials},
${tokens === undefined ? '' : `  budget: { tokens: ${tokens} },\n`}${isLocal ? '  maxOutputTokens: 40,\n' : ''}})
`
}

/** Requests of kinds that the small model of the package was trained on. */
const exampleTasks = `${[
  {
    id: 'choose',
    prompt: 'if it says "river", copper, otherwise lamp.\nriver',
    expected: { answer: 'copper' },
  },
  {
    id: 'otherwise',
    prompt: 'if it says "stone", paper, otherwise tiger.\nmaple',
    expected: { answer: 'tiger' },
  },
  { id: 'count', prompt: 'how many names here: river, lamp, Oslo', expected: { answer: 3 } },
]
  .map((task) => JSON.stringify(task))
  .join('\n')}\n`
