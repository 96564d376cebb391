/** A parsed request of the policy to run a tool. `arguments` is checked against the tool's schema before it runs. */
export interface ToolCall {
  id: string
  name: string
  arguments: Record<string, unknown>
}
