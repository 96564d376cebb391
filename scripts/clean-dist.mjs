// Removes the build, so that a package contains nothing of deleted sources.
import { rmSync } from 'node:fs'

rmSync(new URL('../dist', import.meta.url), { recursive: true, force: true })
