// A clerk at a desk: an agent of the AI SDK 7.
import { isStepCount, type LanguageModel, tool, ToolLoopAgent } from 'ai'
import { z } from 'zod'
import { guestList, weatherAt } from '../desk.ts'

const tools = {
  weather_at: tool({
    description: 'the weather now',
    inputSchema: z.object({ town: z.string() }),
    execute: ({ town }) => weatherAt(town),
  }),
  tally_two: tool({
    description: 'both numbers together',
    inputSchema: z.object({ p: z.number(), q: z.number() }),
    execute: ({ p, q }) => String(p + q),
  }),
  guest_list: tool({
    description: 'all guests',
    inputSchema: z.object({}),
    execute: () => guestList(),
  }),
}

const settings = {
  instructions: 'You are a clerk at a desk.',
  tools,
  temperature: 0,
  stopWhen: isStepCount(4),
}

export const createClerk = (model: LanguageModel = 'openai/gpt-5-mini') =>
  new ToolLoopAgent({ model, ...settings })
