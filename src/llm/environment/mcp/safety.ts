import { AgogeError } from '../../../error.ts'
import type { UnusableTool } from '../../tool/mcp-results.ts'
import type { ToolSpec } from '../../tool/tool.ts'
import { visibleBlock, visibleLine } from '../../../untrusted/visible-text.ts'
import { requiredOf } from './arguments/schema-parts.ts'
import { saysOpenWorld } from './server/reach.ts'
import { filesObserver, missingState } from './environment-config.ts'
import type { McpEnvironmentConfig } from './environment-config.ts'

/** `--sandbox` or `--sandbox=remote`. */
export type Sandbox = boolean | 'remote'

export interface AdmissionOptions {
  /**
   * The state behind the server may be destroyed: every tool may run. `true` speaks for this machine, so a tool that
   * says that it reaches other hosts may not run; `remote` speaks for all hosts.
   */
  sandbox?: Sandbox
  /** Tools that may run besides the read-only ones. */
  allow?: readonly string[]
  /** Tools that the server lists but nobody can call. */
  unusable?: readonly UnusableTool[]
}

/** A tool that will be called, and the reason why it may. */
export interface AdmittedTool {
  spec: ToolSpec
  /** `unknown`: the server does not say whether the tool changes anything; `probeTools` tries it to find out. */
  kind: 'read' | 'write' | 'unknown'
  why: 'readOnlyHint' | '--allow' | '--sandbox' | 'own code'
}

export interface Admission {
  admitted: AdmittedTool[]
  /** Tools that will not be called, with the reason. */
  refused: LeftOutTool[]
}

/** A tool without tasks. */
export interface LeftOutTool {
  name: string
  /** The reason as text, never shortened. */
  reason: string
  /** How to enable it: a flag of the command line, or a way to reset and observe the state. */
  remedy?: 'allow' | 'state'
}

/**
 * Decides which tools of an MCP server may run. A tool with `readOnlyHint: true` may always run; the others need
 * `--sandbox` or `--allow`. A tool that declares that it changes something also needs a state that can be reset and
 * observed, because its tasks could not be judged otherwise.
 *
 * @throws AgogeError if the server has no usable tools, an allowed or observing tool does not exist, or no tool may
 * run.
 */
export function admitTools(
  server: string,
  specs: readonly ToolSpec[],
  config: McpEnvironmentConfig,
  options: AdmissionOptions = {},
): Admission {
  const names = specs.map((spec) => spec.name)
  const observers = config.observe.filter((name) => name !== filesObserver)
  const { unusable = [] } = options
  if (names.length === 0 && unusable.length > 0) {
    throw new AgogeError(`no tool of the MCP server "${server}" can be used\n${listReasons(unusable)}`, {
      code: 'bad-tool-schema',
      given: unusable.map(({ name }) => name).join(', '),
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
    const { readOnlyHint, destructiveHint } = spec.annotations ?? {}
    if (readOnlyHint === true) {
      admission.admitted.push({ spec, kind: 'read', why: 'readOnlyHint' })
      continue
    }
    const changes = readOnlyHint === false || destructiveHint === true
    const sandboxed = options.sandbox === 'remote' || (options.sandbox === true && !saysOpenWorld(spec))
    const why = options.allow?.includes(spec.name) ? '--allow' : sandboxed ? '--sandbox' : undefined
    if (why === undefined && options.sandbox === true) {
      const reason = `says that it reaches other hosts (openWorldHint), for which --sandbox does not speak: admit it with --sandbox=remote, or with --allow ${visibleLine(spec.name, 128)}`
      admission.refused.push({ name: spec.name, reason })
    } else if (why === undefined) {
      const reason = `may change something (no readOnlyHint); to run it, add --allow ${visibleLine(spec.name, 128)}, or --sandbox for all tools if the state behind the server may be destroyed`
      admission.refused.push({ name: spec.name, reason, remedy: 'allow' })
    } else if (observers.includes(spec.name) && !changes) {
      // Listing a tool in "observe" declares that it only reads.
      admission.admitted.push({ spec, kind: 'read', why })
    } else if (!changes) {
      admission.admitted.push({ spec, kind: 'unknown', why })
    } else if (missingState(config) !== undefined) {
      const reason = `changes something (by its annotations), and ${missingState(config)}`
      admission.refused.push({ name: spec.name, reason, remedy: 'state' })
    } else {
      admission.admitted.push({ spec, kind: 'write', why })
    }
  }
  for (const name of observers) {
    const tool = admission.admitted.find((entry) => entry.spec.name === name)
    if (tool?.kind === 'read' && requiredOf(tool.spec.inputSchema).length === 0) continue
    throw new AgogeError(`"${name}" cannot observe the state of "${server}"`, {
      code: 'bad-config',
      given: name,
      expected:
        'a tool without required arguments that is annotated readOnlyHint: true, or has no annotations and is admitted by --allow or --sandbox',
      hint: 'see "observe" in the "agoge" entry of the server',
    })
  }
  if (admission.admitted.length === 0) {
    throw new AgogeError(`no tool of the MCP server "${server}" may run\n${listReasons(admission.refused)}`, {
      code: 'nothing-allowed',
      given: names.join(', '),
      expected: 'a tool that may run',
      ...hinted(remedyHint(server, specs, config, admission.refused)),
    })
  }
  return admission
}

/** One line per tool for an error's message. The `given` field of an error may be cut; its message is not. */
export function listReasons(tools: readonly { name: string; reason: string }[]): string {
  return tools
    .map(({ name, reason }) => `  ${visibleLine(name, 128)}: ${visibleBlock(reason, '    ')}`)
    .join('\n')
}

function hinted(hint: string | undefined): { hint?: string } {
  return hint === undefined ? {} : { hint }
}

/** How to enable the tools that are left out; undefined if the user can do nothing. */
export function remedyHint(
  server: string,
  specs: readonly ToolSpec[],
  config: McpEnvironmentConfig,
  leftOut: readonly LeftOutTool[],
): string | undefined {
  const needs = (remedy: LeftOutTool['remedy']): string =>
    leftOut
      .filter((tool) => tool.remedy === remedy)
      .map(({ name }) => visibleLine(name, 128))
      .join(', ')
  const state = needs('state')
  const allow = needs('allow')
  const hints = [
    ...(state === '' ? [] : [stateLines(server, specs, config, state)]),
    ...(allow === ''
      ? []
      : [
          `Admit ${allow}: --allow TOOL for each, or --sandbox for all if the state behind the server may be destroyed`,
        ]),
  ]
  return hints.length === 0 ? undefined : hints.join('\n')
}

/** The lines of `.mcp.json` that declare reset and observation. */
function stateLines(
  server: string,
  specs: readonly ToolSpec[],
  config: McpEnvironmentConfig,
  tools: string,
): string {
  const shows = specs.filter(
    ({ annotations, inputSchema }) =>
      Object.keys(Object(inputSchema['properties'])).length === 0 &&
      annotations?.readOnlyHint !== false &&
      annotations?.destructiveHint !== true,
  )
  const marked = shows.filter(({ annotations }) => annotations?.readOnlyHint === true)
  const observe =
    config.observe.length > 0 ? config.observe : (marked.length > 0 ? marked : shows).map(({ name }) => name)
  const reset = config.reset === 'none' ? 'restart' : config.reset
  const entry = { reset, observe: observe.length > 0 ? observe : ['TOOL'] }
  return [
    `For tasks of ${tools}, say beside "mcpServers" in the .mcp.json how the state is reset and observed:`,
    `  "agoge": { ${JSON.stringify(server)}: ${JSON.stringify(entry)} }`,
    ...(config.reset === 'none'
      ? [
          '"restart" fits a state in the memory of the server; { "files": ["PATH"] } one in files, { "command": "COMMAND" } any other.',
        ]
      : []),
    ...(config.observe.length > 0
      ? []
      : ['"observe" names tools without required arguments that show all of the state.']),
  ].join('\n')
}
