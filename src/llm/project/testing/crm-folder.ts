import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** A folder with a config of the CRM of the fixtures. */
export function crmFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'agoge-project-'))
  const server = fileURLToPath(new URL('../../environment/mcp/fixtures/crm-server.mjs', import.meta.url))
  const config = {
    mcpServers: { crm: { command: process.execPath, args: [server] } },
    agoge: {
      crm: {
        reset: { files: ['crm.json'] },
        observe: ['list_contacts'],
        ignore: ['id', 'created_at'],
        env: { CRM_FILE: '{slot}/crm.json' },
      },
    },
  }
  writeFileSync(join(folder, '.mcp.json'), JSON.stringify(config))
  return folder
}
