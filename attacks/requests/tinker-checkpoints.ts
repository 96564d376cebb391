// Names and paths of checkpoints that lead out of the store of the Tinker server.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Expected, refused } from './judge.ts'
import { type Kind, listOf } from './kinds.ts'
import { calling, getting, placeOf } from './tinker-fields.ts'

/** Paths and names that lead out of the store. A checkpoint beside it must be neither seen nor removed. */
export const checkpoints = (folder: string): Kind => {
  const outside = join(folder, 'outside', 'weights', 'other')
  const kind = listOf('paths and names of checkpoints', (context) => {
    mkdirSync(outside, { recursive: true })
    writeFileSync(
      join(outside, 'tinker-checkpoint.json'),
      JSON.stringify({ schema: 1, baseModel: 'served', loraRank: 2, time: 'x' }),
    )
    const { abused, session } = placeOf(context)
    const names = [
      '../outside',
      '..',
      '.',
      '...',
      'a/b',
      'a\\b',
      '/etc/passwd',
      'x\0',
      'x\n',
      ' ',
      '~',
      '$HOME',
      '%2e%2e',
      'a:b',
      '*',
      'tinker://x/weights/y',
      'ü',
      '😀',
      'x'.repeat(201),
      'C:\\x',
      '..;/',
      '<b>',
      '`id`',
      '$(id)',
      "a'b",
      'a"b',
      '|',
      '&',
    ]
    const paths = [
      'tinker://../outside/weights/other',
      'tinker://..%2foutside/weights/other',
      'tinker://a/weights/../../outside',
      'tinker://./weights/other',
      'tinker://a/../weights/b',
      'tinker://a/other/b',
      'tinker://a/weights/b/c',
      'tinker://',
      'file:///etc/passwd',
      'http://169.254.169.254/x',
      '/etc/passwd',
      '../outside',
      'TINKER://a/weights/b',
      'tinker:/a/weights/b',
      'tinker://a\0/weights/b',
      'tinker://a/weights/',
      'tinker:///weights/b',
      `tinker://${'a'.repeat(300)}/weights/b`,
      outside,
      'tinker://__proto__/weights/x',
      'tinker://constructor/weights/x',
      'tinker://a/weights/constructor',
    ]
    const wrong = refused(/path/i)
    const none = refused(/path|checkpoint/i, 400, 404)
    const parts = [
      '..%2f..%2foutside',
      '..',
      '.',
      '%2e%2e',
      '..%5coutside',
      '%00',
      '%2fetc',
      'a%2fb',
      '%252e%252e',
      '*',
    ]
    return [
      ...names.map((path) =>
        calling(`save ${JSON.stringify(path.slice(0, 20))}`, wrong, 'save_weights', {
          model_id: abused,
          path,
        }),
      ),
      ...names.slice(0, 8).map((path) =>
        calling(`save for sampling ${JSON.stringify(path)}`, wrong, 'save_weights_for_sampler', {
          model_id: abused,
          path,
        }),
      ),
      ...paths.map((path) =>
        calling(`load ${JSON.stringify(path.slice(0, 40))}`, none, 'load_weights', {
          model_id: abused,
          path,
        }),
      ),
      ...paths.map((path) =>
        calling(`about ${JSON.stringify(path.slice(0, 40))}`, none, 'weights_info', { tinker_path: path }),
      ),
      ...paths.map((path, i) =>
        calling(`sample from ${JSON.stringify(path.slice(0, 40))}`, none, 'create_sampling_session', {
          session_id: session,
          sampling_session_seq_id: 3000 + i,
          model_path: path,
        }),
      ),
      // Some of them lead to another list before the server sees them; none leads out of the store.
      ...parts.flatMap((part) => [
        getting(`training_runs/${part}`, inside),
        getting(`training_runs/${part}/checkpoints`, inside),
        getting(`models/${part}/checkpoints`, inside),
        getting(`samplers/${part}`, inside),
        getting(`training_runs/${part}/checkpoints/weights/other`, nowhere, 'DELETE'),
        getting(`training_runs/outside/checkpoints/weights/${part}`, nowhere, 'DELETE'),
        getting(`training_runs/outside/checkpoints/${part}/other`, nowhere, 'DELETE'),
      ]),
    ]
  })
  return {
    name: kind.name,
    async run(context) {
      const tried = await kind.run(context)
      if (existsSync(join(outside, 'tinker-checkpoint.json'))) return tried
      return tried.map((one) => ({ ...one, problem: 'a checkpoint outside the store was removed' }))
    },
  }
}

const nowhere = refused(undefined, 400, 404)
const inside: Expected = {
  status: [200, 400, 404],
  check: ({ body }) => (body.includes('outside') ? 'it lists a checkpoint outside the store' : undefined),
}
