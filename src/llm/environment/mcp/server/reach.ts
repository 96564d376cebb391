import type { ServerConfig } from '../../../tool/server-config.ts'
import type { ToolSpec } from '../../../tool/tool.ts'

const here = /^(?:localhost|.*\.localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[?::1?\]?)$/i
const hostSetting = /(?:^|_)(?:HOST|HOSTNAME|SERVER|DOMAIN|ENDPOINT)$/i
/** Keys of accounts, which are elsewhere. */
const keySetting = /(?:API|ACCESS|AUTH|BEARER|SECRET|CLIENT)_?(?:KEY|TOKEN|SECRET|ID)$|(?:^|_)(?:TOKEN|PAT)$/i

/**
 * Why a server seems to reach other hosts, as a clause; undefined if nothing shows it. Looks at its address, at the
 * addresses in its arguments and variables, at variables that name a host, and at keys of accounts. A host that is
 * written into the program itself cannot be seen.
 */
export function reachesOthers(server: ServerConfig): string | undefined {
  if ('url' in server) return `it is reached over HTTP (${new URL(server.url).host})`
  for (const arg of server.args ?? []) {
    const host = otherHost(arg)
    if (host !== undefined) return `one of its arguments names the host ${host}`
  }
  for (const [name, value] of Object.entries(server.env ?? {})) {
    const host = hostSetting.test(name) && isHost(value) ? value : otherHost(value)
    if (host !== undefined && !here.test(host)) return `its variable ${name} names the host ${host}`
    if (keySetting.test(name) && value !== '')
      return `its variable ${name} looks like the key of an account, which is on another host`
  }
  return undefined
}

/** Whether a tool says that it reaches other hosts. Without the hint nothing is known. */
export function saysOpenWorld({ annotations }: ToolSpec): boolean {
  return annotations?.openWorldHint === true
}

function isHost(value: string): boolean {
  return /^(?:[\w-]+\.)+[a-z]{2,}(?::\d+)?$|^\d+(?:\.\d+){3}(?::\d+)?$/i.test(value)
}

/** The host of an address inside a value, unless it is this machine or a place to be filled in. */
function otherHost(value: string): string | undefined {
  for (const [, address] of value.matchAll(/\b[a-z][a-z\d+.-]*:\/\/([^\s/?#"']+)/gi)) {
    const host = address.slice(address.lastIndexOf('@') + 1).replace(/:\d+$/, '')
    if (!host.includes('{') && !host.includes('}') && !here.test(host)) return host
  }
  return undefined
}
