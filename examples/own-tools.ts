// Trains the small model on your own tools: objects of the AI SDK's `tool` shape with any Standard Schema.
import { tool } from 'ai'
import { z } from 'zod'
import { createToolsEnvironment, train } from 'agoge'

const steps = Number(process.env['STEPS'] ?? 30)
const stock = { apple: 3, lamp: 12, chair: 7, rope: 25 }
const article = z.enum(['apple', 'lamp', 'chair', 'rope'])
const number = z.int().min(0).max(50)
const environment = await createToolsEnvironment({
  tools: {
    add: tool({ inputSchema: z.object({ a: number, b: number }), execute: ({ a, b }) => `${a + b}` }),
    stock: tool({ inputSchema: z.object({ article }), execute: (given) => `${stock[given.article]} left` }),
  },
})
const { tasks } = await environment.prepareTasks({
  seed: 1,
  counts: { train: 200, validation: 20, test: 40 },
})
const summary = await train({ environment, tasks, steps, testTasks: 40, demonstrations: 20 })
for (const { name, success } of summary.stages) console.log(`${name}: ${(100 * success.mean).toFixed(0)}%`)
await environment.close()
