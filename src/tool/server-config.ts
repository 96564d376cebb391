/** An MCP server started as a child process that speaks over its standard streams. */
export interface StdioServerConfig {
  name?: string
  command: string
  args?: string[]
  /** Added to a small inherited environment (HOME, PATH, USER ...). */
  env?: Record<string, string>
  cwd?: string
}

/** An MCP server reached over streamable HTTP. */
export interface HttpServerConfig {
  name?: string
  url: string
  headers?: Record<string, string>
}

export type ServerConfig = StdioServerConfig | HttpServerConfig
