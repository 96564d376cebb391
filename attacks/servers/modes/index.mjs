import { files } from './files.mjs'
import { listing } from './listing.mjs'
import { processes } from './processes.mjs'
import { protocol } from './protocol.mjs'
import { results } from './results.mjs'
import { schemas } from './schemas.mjs'
import { secrets } from './secrets.mjs'
import { texts } from './texts.mjs'

/** What a server may do, by name. */
export const modes = {
  ...listing,
  ...schemas,
  ...results,
  ...texts,
  ...protocol,
  ...processes,
  ...files,
  ...secrets,
}
