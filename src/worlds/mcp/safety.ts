import { AgogeError } from '../../error.ts'
import type { UnusableTool } from '../../tool/read-tools.ts'
import type { ToolSpec } from '../../tool/types.ts'
import { filesObserver } from './world-config.ts'
import type { McpWorldConfig } from './world-config.ts'

export interface AdmissionOptions {
  /** The state behind the server may be destroyed: every tool may run. */
  sandbox?: boolean
  /** Tools that may run besides those that only read. */
  allow?: readonly string[]
  /** Tools that the server lists in a way that nobody can use. */
  unusable?: readonly UnusableTool[]
}

/** A tool that will be called, and by what right. */
export interface AdmittedTool {
  spec: ToolSpec
  kind: 'read' | 'write'
  why: 'readOnlyHint' | '--allow' | '--sandbox' | 'own code'
}

export interface Admission {
  admitted: AdmittedTool[]
  /** Tools that will not be called, with the reason in words. */
  refused: { name: string; reason: string }[]
}

/**
 * Decides which tools of a foreign server may run. Only `readOnlyHint: true` runs by itself; the rest needs
 * `--sandbox` or `--allow`, and a world that can be reset and observed, for otherwise no task could be judged.
 *
 * @throws AgogeError for a server without tools that can be used, an allowed or observing tool that does not exist, and where
 * nothing may run.
 */
export function admitTools(
  server: string,
  specs: readonly ToolSpec[],
  config: McpWorldConfig,
  options: AdmissionOptions = {},
): Admission {
  const names = specs.map((spec) => spec.name)
  const observers = config.observe.filter((name) => name !== filesObserver)
  const { unusable = [] } = options
  if (names.length === 0 && unusable.length > 0) {
    throw new AgogeError(`no tool of the MCP server "${server}" can be used`, {
      code: 'bad-tool-schema',
      given: unusable.map(({ name, reason }) => `${name}: ${reason}`).join('\n'),
      expected: 'at least one tool with a name and an "inputSchema" of type "object"',
      hint: 'this has to be put right in the server',
    })
  }
  if (names.length === 0) {
    throw new AgogeError(`the MCP server "${server}" has no tools`, {
      code: 'no-tools',
      given: server,
      expected: 'a server that lists at least one tool',
      hint: 'tasks are made from tools; resources and prompts alone are not enough',
    })
  }
  for (const name of [...(options.allow ?? []), ...observers]) {
    if (names.includes(name)) continue
    throw new AgogeError(`the MCP server "${server}" has no tool "${name}"`, {
      code: 'unknown-tool',
      given: name,
      expected: `one of: ${names.join(', ')}`,
      hint: observers.includes(name) ? 'see "observe" in the "agoge" entry of the server' : 'see --allow',
    })
  }
  const admission: Admission = {
    admitted: [],
    refused: unusable.map(({ name, reason }) => ({ name, reason: `cannot be used: ${reason}` })),
  }
  for (const spec of specs) {
    const refuse = (reason: string): void => void admission.refused.push({ name: spec.name, reason })
    const reads = spec.annotations?.readOnlyHint === true
    if (reads) {
      admission.admitted.push({ spec, kind: 'read', why: 'readOnlyHint' })
      continue
    }
    const why = options.allow?.includes(spec.name) ? '--allow' : options.sandbox ? '--sandbox' : undefined
    if (why === undefined) {
      refuse('may change something (no readOnlyHint); admit it with --allow or --sandbox')
    } else if (config.reset === 'none') {
      refuse('may change something, and the world declares no "reset"')
    } else if (config.observe.length === 0) {
      refuse('may change something, and the world declares no "observe" to see what')
    } else {
      admission.admitted.push({ spec, kind: 'write', why })
    }
  }
  for (const name of observers) {
    const tool = admission.admitted.find((entry) => entry.spec.name === name)
    if (tool?.kind === 'read') continue
    throw new AgogeError(`"${name}" cannot observe the state of "${server}"`, {
      code: 'bad-config',
      given: name,
      expected: 'a tool annotated readOnlyHint: true',
      hint: 'see "observe" in the "agoge" entry of the server',
    })
  }
  if (admission.admitted.length === 0) {
    throw new AgogeError(`no tool of the MCP server "${server}" may run`, {
      code: 'nothing-allowed',
      given: names.join(', '),
      expected: 'a tool annotated readOnlyHint: true',
      hint: 'admit tools with --allow TOOL, or all with --sandbox if the state behind the server may be destroyed',
    })
  }
  return admission
}
