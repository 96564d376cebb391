// Writes .oxlintrc.json: one override a room, so that a room imports only the rooms above it (ARCHITECTURE.md).
import { writeFileSync } from 'node:fs'

const rooms = [
  'random',
  'tensor',
  'nn',
  'environment',
  'episode',
  'policy',
  'language',
  'tool',
  'agent',
  'reward',
  'worlds',
  'algorithm',
  'rollout',
  'evaluation',
  'training',
  'automation',
  'server',
  'cli',
]

const override = (room, index) => ({
  files: [`src/${room}/**/*.ts`],
  rules: {
    'no-restricted-imports': [
      'error',
      {
        patterns: [
          {
            group: rooms.slice(index + 1).flatMap((r) => [`../${r}/**`, `../../${r}/**`, `../../../${r}/**`]),
            message: `src/${room}/ may import only the rooms above it: ${rooms.slice(0, index).join(', ') || 'none'}.`,
          },
        ],
      },
    ],
  },
})

writeFileSync(
  new URL('../.oxlintrc.json', import.meta.url),
  JSON.stringify(
    {
      $schema: './node_modules/oxlint/configuration_schema.json',
      plugins: ['typescript', 'import', 'unicorn', 'oxc'],
      categories: { correctness: 'error', suspicious: 'error' },
      ignorePatterns: ['dist/**', 'models/**', 'node_modules/**'],
      rules: {
        'typescript/no-explicit-any': 'error',
        'typescript/no-floating-promises': 'error',
        'typescript/consistent-type-imports': 'error',
        'import/no-cycle': 'error',
        'import/no-default-export': 'error',
        'no-await-in-loop': 'off',
        'no-underscore-dangle': 'off',
        'no-shadow': 'off',
        'unicorn/no-array-sort': 'off',
        'unicorn/no-array-reverse': 'off',
        'unicorn/consistent-function-scoping': 'off',
        'unicorn/require-post-message-target-origin': 'off',
        'typescript/no-unsafe-type-assertion': 'off',
        'typescript/consistent-return': 'off',
        'typescript/no-unnecessary-type-arguments': 'off',
        'typescript/no-unnecessary-boolean-literal-compare': 'off',
        'import/no-unassigned-import': 'off',
      },
      overrides: [
        ...rooms.slice(0, -1).map(override),
        { files: ['*.config.ts', 'papers/**'], rules: { 'import/no-default-export': 'off' } },
        { files: ['**/*.test.ts'], rules: { 'no-restricted-imports': 'off' } },
      ],
    },
    null,
    2,
  ) + '\n',
)
