interface CommonServerConfig {
  name?: string
  /**
   * Values that came from the environment by `${VAR}`, wherever in the configuration they stand: whoever keeps a value there wants it
   * nowhere else, so they are always redacted.
   */
  expanded?: string[]
}

/** An MCP server started as a child process that speaks over its standard streams. */
export interface StdioServerConfig extends CommonServerConfig {
  command: string
  args?: string[]
  /** Added to a small inherited environment (HOME, PATH, USER ...). */
  env?: Record<string, string>
  cwd?: string
}

/** An MCP server reached over streamable HTTP. */
export interface HttpServerConfig extends CommonServerConfig {
  url: string
  headers?: Record<string, string>
}

export type ServerConfig = StdioServerConfig | HttpServerConfig
