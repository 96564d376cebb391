import { defineConfig } from 'vitest/config'

const include = ['src', 'research', 'examples', 'docs', 'bench', 'gates', 'attacks', 'scripts']

// `npm test` runs the default project, `npm run test:slow` the slow one: files named *.slow.test.ts, which take more than some
// four seconds of processor time each.
export default defineConfig({
  resolve: { conditions: ['agoge-source'] },
  ssr: { resolve: { conditions: ['agoge-source'] } },
  test: {
    projects: [
      {
        extends: true,
        test: {
          name: 'default',
          include: include.map((folder) => `${folder}/**/*.test.ts`),
          exclude: ['**/*.slow.test.ts', '**/node_modules/**'],
        },
      },
      {
        extends: true,
        test: {
          name: 'slow',
          include: include.map((folder) => `${folder}/**/*.slow.test.ts`),
          // Several at a time compute with one thread each: more would wait for each other.
          env: { AGOGE_THREADS: process.env['AGOGE_THREADS'] ?? '1' },
        },
      },
    ],
    pool: 'forks',
    // The modules are loaded once for each worker, not once for each of some 400 files. Many tests wait for processes, so three workers keep two
    // cores busy.
    isolate: false,
    maxWorkers: 3,
    // Only to end what hangs. No test may depend on how busy the machine is.
    testTimeout: 900_000,
    hookTimeout: 900_000,
  },
})
