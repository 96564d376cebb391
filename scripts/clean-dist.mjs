// Removes what was built, so that a package holds nothing of sources that are gone.
import { rmSync } from 'node:fs'

rmSync(new URL('../dist', import.meta.url), { recursive: true, force: true })
