// Trains the small model on tools of one's own: objects of the AI SDK's `tool` shape with any Standard Schema.
import { tool } from 'ai'
import { z } from 'zod'
import { createToolsWorld, train } from 'agoge'

const stock = new Map(['apple', 'lamp', 'chair', 'rope'].map((name, i) => [name, 3 + 4 * i]))
const tools = {
  add: tool({
    description: 'Add two numbers',
    inputSchema: z.object({ a: z.int().min(0).max(50), b: z.int().min(0).max(50) }),
    execute: ({ a, b }) => `${a + b}`,
  }),
  stock: tool({
    description: 'How many are in stock',
    inputSchema: z.object({ article: z.enum(['apple', 'lamp', 'chair', 'rope']) }),
    execute: ({ article }) => `${stock.get(article)} left`,
  }),
}
const steps = Number(process.env['STEPS'] ?? 30)
const world = await createToolsWorld({ tools })
const { tasks } = await world.prepareTasks({
  seed: 1,
  counts: { train: 200, validation: 20, test: 2 * steps },
})
const summary = await train({ world, tasks, steps, testTasks: 2 * steps, demonstrations: 20 })
for (const { name, success } of summary.stages)
  console.log(`${name}: ${(100 * success.mean).toFixed(0)}% of ${success.n}`)
await world.close()
