// Memory of `trainAgent` over thousands of episodes: node --expose-gc --import tsx --conditions agoge-source
// bench/agent-memory.ts [EPISODES]
// Prints the live heap (after a collection) and the resident set at every tenth of the run. Both should stay flat.
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { generateText } from 'ai'
import { loadModel, readChatFormat, trainAgent } from 'agoge'
import type { AgentContext } from 'agoge'
import { createLocalBackend, initialiseParameters } from 'agoge/llm'
import { grownConfig } from './model-sizes.ts'

const episodes = Number(process.argv[2] ?? 5000)
const [tasks, groupSize] = [5, 8]
const steps = Math.ceil(episodes / (tasks * groupSize))
const collect = (globalThis as { gc?: () => void }).gc
if (collect === undefined) throw new Error('run it with node --expose-gc')

// The tokenizer of the base model with a small transformer, since model size does not matter here.
const { tokenizer, folder, backend: base } = await loadModel()
await base.dispose()
const config = { ...grownConfig(32, 1, 256), vocab_size: tokenizer.vocabularySize }
const backend = createLocalBackend({
  config,
  parameters: initialiseParameters(config, 1),
  tokenizer,
  threads: 1,
})
const format = await readChatFormat(folder, tokenizer)
const out = mkdtempSync(join(tmpdir(), 'agoge-agent-memory-'))
const megabytes = (bytes: number): number => Math.round((bytes / 2 ** 20) * 10) / 10
const rows: { episodes: number; heap: number; resident: number }[] = []

await trainAgent({
  backend,
  tokenizer,
  format,
  window: 256,
  program: {
    name: 'two-turns',
    async run({ id }: { id: string }, { model }: AgentContext) {
      const first = await generateText({ model, prompt: `begin ${id}`, maxOutputTokens: 12 })
      const messages = [{ role: 'user' as const, content: `begin ${id}` }, ...first.response.messages]
      const next = { role: 'user' as const, content: 'go on' }
      return (await generateText({ model, messages: [...messages, next], maxOutputTokens: 12 })).text
    },
    judge: (_, said: string) => said.length % 2,
  },
  tasks: (step) => Array.from({ length: tasks }, (_, i) => ({ id: `${tasks * step + i}` })),
  groupSize,
  steps,
  algorithm: 'dapo',
  learningRate: 1e-4,
  seed: 1,
  out,
  onStep({ step }) {
    if ((step + 1) % Math.ceil(steps / 10) !== 0 && step + 1 !== steps) return
    collect()
    const { heapUsed, external, rss } = process.memoryUsage()
    rows.push({
      episodes: (step + 1) * tasks * groupSize,
      heap: megabytes(heapUsed + external),
      resident: megabytes(rss),
    })
    console.error(JSON.stringify(rows.at(-1)))
  },
})
await backend.dispose()
rmSync(out, { recursive: true, force: true })
console.log(JSON.stringify({ episodes: steps * tasks * groupSize, node: process.version, rows }, null, 1))
