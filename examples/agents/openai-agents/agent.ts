// A clerk at a desk: an agent of the OpenAI Agents SDK.
import { Agent, tool } from '@openai/agents'
import { z } from 'zod'
import { guestList, weatherAt } from '../desk.ts'

const tools = [
  tool({
    name: 'weather_at',
    description: 'the weather now',
    parameters: z.object({ town: z.string() }),
    execute: ({ town }) => weatherAt(town),
  }),
  tool({
    name: 'tally_two',
    description: 'both numbers together',
    parameters: z.object({ p: z.number(), q: z.number() }),
    execute: ({ p, q }) => String(p + q),
  }),
  tool({
    name: 'guest_list',
    description: 'all guests',
    parameters: z.object({}),
    execute: () => guestList(),
  }),
]

export const clerk = new Agent({
  name: 'Clerk',
  instructions: 'You are a clerk at a desk.',
  model: 'gpt-5-mini',
  modelSettings: { temperature: 0 },
  tools,
})
