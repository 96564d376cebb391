// A clerk at a desk: a graph of LangGraph.js.
import { tool } from '@langchain/core/tools'
import { type GraphNode, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt'
import { ChatOpenAI } from '@langchain/openai'
import { z } from 'zod'
import { guestList, weatherAt } from '../desk.ts'

const tools = [
  tool(({ town }) => weatherAt(town), {
    name: 'weather_at',
    description: 'the weather now',
    schema: z.object({ town: z.string() }),
  }),
  tool(({ p, q }) => String(p + q), {
    name: 'tally_two',
    description: 'both numbers together',
    schema: z.object({ p: z.number(), q: z.number() }),
  }),
  tool(() => guestList(), {
    name: 'guest_list',
    description: 'all guests',
    schema: z.object({}),
  }),
]

const instructions = { role: 'system', content: 'You are a clerk at a desk.' }

const modelOf = (fields: object = {}) =>
  new ChatOpenAI({ model: 'gpt-5-mini', temperature: 0, ...fields }).bindTools(tools)

const answer: GraphNode<typeof MessagesAnnotation> = async ({ messages }, { configurable }) => ({
  messages: await modelOf(configurable?.['model']).invoke([instructions, ...messages]),
})

export const clerk = new StateGraph(MessagesAnnotation)
  .addNode('answer', answer)
  .addNode('tools', new ToolNode(tools))
  .addEdge(START, 'answer')
  .addConditionalEdges('answer', toolsCondition)
  .addEdge('tools', 'answer')
  .compile()
