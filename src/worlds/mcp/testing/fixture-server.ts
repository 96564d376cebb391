import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { createPlannerActor, runEpisodes } from '../../../agent/index.ts'
import { createMcpWorld } from '../mcp-world.ts'
import type { McpWorld, McpWorldOptions } from '../mcp-world.ts'
import type { McpTask } from '../mcp-task.ts'
import { parseWorldConfig } from '../world-config.ts'
import type { McpWorldConfig } from '../world-config.ts'

/** A server of the fixtures in one process, closed at the end of the test. */
export async function openFixture(
  name: string,
  options: Partial<McpWorldOptions>,
  env: Record<string, string> = {},
): Promise<McpWorld> {
  const file = fileURLToPath(new URL(`../fixtures/${name}-server.mjs`, import.meta.url))
  const server = { command: process.execPath, args: [file], env }
  const world = await createMcpWorld({ name, server, slots: 1, ...options })
  onTestFinished(() => world.close())
  return world
}

/** Whether the tasks' own plans solve them. */
export async function solved(world: McpWorld, tasks: readonly McpTask[]): Promise<(boolean | null)[]> {
  const specs = tasks.map((task, index) => ({ id: `e${index}`, group: task.id, task }))
  const actor = createPlannerActor({ tasks: new Map(specs.map((spec) => [spec.id, spec.task])) })
  const limits = { turns: 6, deadlineSeconds: 60, toolDeadlineSeconds: 20 }
  return (await runEpisodes(specs, actor, world, limits)).map(({ success }) => success)
}

/** The part of a hint that is to be pasted, read as the configuration of the server. */
export function pasted(hint: string | undefined, name: string): McpWorldConfig {
  const line = hint?.split('\n').find((each) => each.includes('"agoge"')) ?? ''
  const { agoge } = JSON.parse(`{${line}}`) as { agoge: Record<string, unknown> }
  return parseWorldConfig(agoge[name], 'hint')
}

/** How the state of the CRM is reset and observed. */
export const crmConfig: McpWorldConfig = {
  reset: { files: ['crm.json'] },
  observe: ['list_contacts'],
  ignore: ['id', 'created_at'],
  env: { CRM_FILE: '{slot}/crm.json' },
}
