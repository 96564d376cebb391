import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'
import { createExpertActor } from '../../../agent/expert-actor.ts'
import { runEpisodes } from '../../../agent/turn-loop.ts'
import { createMcpEnvironment } from '../mcp-environment.ts'
import type { McpEnvironment, McpEnvironmentOptions } from '../mcp-environment.ts'
import type { McpTask } from '../mcp-task.ts'
import { parseEnvironmentConfig } from '../environment-config.ts'
import type { McpEnvironmentConfig } from '../environment-config.ts'

/** A server of the fixtures in one process, closed at the end of the test. */
export async function openFixture(
  name: string,
  options: Partial<McpEnvironmentOptions>,
  env: Record<string, string> = {},
): Promise<McpEnvironment> {
  const file = fileURLToPath(new URL(`../fixtures/${name}-server.mjs`, import.meta.url))
  const server = { command: process.execPath, args: [file], env }
  const environment = await createMcpEnvironment({ name, server, servers: 1, ...options })
  onTestFinished(() => environment.close())
  return environment
}

/** Whether the tasks' own plans solve them. */
export async function solved(
  environment: McpEnvironment,
  tasks: readonly McpTask[],
): Promise<(boolean | null)[]> {
  const specs = tasks.map((task, index) => ({ id: `e${index}`, group: task.id, task }))
  const actor = createExpertActor({ tasks: new Map(specs.map((spec) => [spec.id, spec.task])) })
  const limits = { turns: 6, deadlineSeconds: 60, toolDeadlineSeconds: 20 }
  return (await runEpisodes(specs, actor, environment, limits)).map(({ success }) => success)
}

/** The part of a hint that is to be pasted, read as the configuration of the server. */
export function pasted(hint: string | undefined, name: string): McpEnvironmentConfig {
  const line = hint?.split('\n').find((each) => each.includes('"agoge"')) ?? ''
  const { agoge } = JSON.parse(`{${line}}`) as { agoge: Record<string, unknown> }
  return parseEnvironmentConfig(agoge[name], 'hint')
}

/** How the state of the CRM is reset and observed. */
export const crmConfig: McpEnvironmentConfig = {
  reset: { files: ['crm.json'] },
  observe: ['list_contacts'],
  ignore: ['id', 'created_at'],
  env: { CRM_FILE: '{slot}/crm.json' },
}
