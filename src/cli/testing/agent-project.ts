import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

/** The modules themselves: the entry of the package loads all of Agoge, which takes longer than what is tested. */
const from = (name: string): string => JSON.stringify(resolve('dist/llm/project', name))

/**
 * A folder with a config whose models are services that note each call in a file, and whose tool notes each of its own. `half` does every other
 * task, and all of them if demonstrations stand before the request; `good` does all, or with `half` as the first six of seven.
 *
 * @param first the first model, whose agent `agoge optimise` improves.
 */
export function agentProject({ milliseconds = 0, tasks = 10, first = 'good' } = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-eval-agent-'))
  writeFileSync(
    join(folder, 'agoge.config.mjs'),
    `import { appendFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { defineConfig } from ${from('config.js')}
import { answerMatches } from ${from('scorers.js')}
const note = (text) => appendFileSync(new URL('calls.txt', import.meta.url), text + '\\n')
const usage = { inputTokens: { total: 10 }, outputTokens: { total: 3 } }
const model = (modelId, right) => ({
  specificationVersion: 'v3', provider: 'test', modelId, supportedUrls: {},
  async doGenerate({ prompt, abortSignal }) {
    await sleep(${milliseconds}, undefined, { signal: abortSignal })
    const asked = JSON.stringify(prompt)
    note(modelId + ' ' + asked)
    const n = Number(/task (\\d+)/.exec(JSON.stringify(prompt.at(-1)))[1])
    return { content: [{ type: 'text', text: String(right(n) || prompt.length > 1 ? n : -1) }], finishReason: { unified: 'stop' }, usage, warnings: [] }
  },
})
export default defineConfig({
  async agent(task, { model, tools }) {
    let said = ''
    for (const step of ['first', 'then']) {
      const prompt = [{ role: 'user', content: [{ type: 'text', text: step + ' ' + task.prompt + ' after ' + said }] }]
      said = (await model.doGenerate({ prompt })).content[0].text
      await tools.log.execute({ step, task: task.id, of: model.modelId }, { toolCallId: step, messages: [] })
    }
    return said
  },
  tasks: Array.from({ length: ${tasks} }, (_, n) => ({ id: String(n), prompt: 'task ' + n, expected: { answer: n } })),
  tools: { log: { mode: 'run', safe: true, tool: { inputSchema: { type: 'object' }, execute: (given) => note('tool ' + JSON.stringify(given)) } } },
  score: answerMatches(),
  models: [model('good', ${first === 'half' ? '(n) => n % 7 !== 0' : '() => true'}), model('half', (n) => n % 2 === 0)]${first === 'half' ? '.reverse(),\n  budget: { tokens: 400_000 },\n  maxOutputTokens: 20' : ''},
  prices: { 'test/good': { input: 1, output: 1 }, 'test/half': { input: 1, output: 1 } },
  concurrency: 3,
})
`,
  )
  return folder
}
