#!/usr/bin/env node
import { openFilesProblem } from './open-files.ts'

// Before anything else is loaded: with few open files that would fail with the stack of Node's loader.
const problem = openFilesProblem()
if (problem === undefined) await import('./start.ts')
else {
  process.stderr.write(problem)
  process.exitCode = 1
}
