// A clerk at a desk: an agent of Mastra.
import { Agent } from '@mastra/core/agent'
import { createTool } from '@mastra/core/tools'
import { z } from 'zod'
import { guestList, weatherAt } from '../desk.ts'

const tools = {
  weather_at: createTool({
    id: 'weather_at',
    description: 'the weather now',
    inputSchema: z.object({ town: z.string() }),
    execute: async ({ town }) => weatherAt(town),
  }),
  tally_two: createTool({
    id: 'tally_two',
    description: 'both numbers together',
    inputSchema: z.object({ p: z.number(), q: z.number() }),
    execute: async ({ p, q }) => String(p + q),
  }),
  guest_list: createTool({
    id: 'guest_list',
    description: 'all guests',
    inputSchema: z.object({}),
    execute: async () => guestList(),
  }),
}

export const clerk = new Agent({
  id: 'clerk',
  name: 'Clerk',
  instructions: 'You are a clerk at a desk.',
  model: ({ requestContext }) => requestContext.get('model') ?? 'openai/gpt-5-mini',
  tools,
})
