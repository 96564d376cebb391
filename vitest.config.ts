import { defineConfig } from 'vitest/config'

export default defineConfig({
  resolve: { conditions: ['agoge-source'] },
  ssr: { resolve: { conditions: ['agoge-source'] } },
  test: {
    include: [
      'src/**/*.test.ts',
      'papers/**/*.test.ts',
      'examples/**/*.test.ts',
      'docs/**/*.test.ts',
      'bench/**/*.test.ts',
      'gates/**/*.test.ts',
    ],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
})
