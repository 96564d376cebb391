import { afterAll, beforeAll, expect, test } from 'vitest'
import { AgogeError } from '../../../error.ts'
import type { ErrorCode } from '../../../error.ts'
import { createTokenizer } from '../../tokenizer/tokenizer.ts'
import type { LoadedModel } from '../base-model.ts'
import { loadModel } from '../base-model.ts'
import { checkVocabulary } from './session.ts'

let model: LoadedModel
const where = { model: 'M', host: 'h' }

beforeAll(async () => {
  model = await loadModel()
})

afterAll(() => model.backend.dispose())

test('a model passes with its own tokenizer and fails with any other', async () => {
  const { backend, tokenizer } = model
  await checkVocabulary(backend, tokenizer, where)
  const { tokens } = tokenizer.model
  for (const by of [1, 100, 300, 700]) {
    const turned = createTokenizer({
      ...tokenizer.model,
      tokens: [...tokens.slice(by), ...tokens.slice(0, by)],
    })
    await expect(checkVocabulary(backend, turned, where)).rejects.toMatchObject({
      code: 'tinker-vocabulary',
      message: 'The model "M" of h was trained with another tokenizer',
      hint: expect.stringContaining('--model FOLDER'),
    })
  }
})

test('an untrained model passes; other server errors are passed on', async () => {
  const { tokenizer } = model
  const evenly = (rows: readonly Int32Array[]) =>
    Promise.resolve(
      rows.map(({ length }) => new Float32Array(length).fill(-Math.log(tokenizer.vocabularySize) - 0.1)),
    )
  await checkVocabulary({ forward: evenly }, tokenizer, where)
  const failing = (code: ErrorCode) => ({
    forward: () => Promise.reject(new AgogeError('no such id', { code })),
  })
  await expect(checkVocabulary(failing('tinker-refused'), tokenizer, where)).rejects.toMatchObject({
    code: 'tinker-vocabulary',
    given: expect.stringContaining('no such id'),
  })
  await expect(checkVocabulary(failing('tinker-deadline'), tokenizer, where)).rejects.toMatchObject({
    code: 'tinker-deadline',
  })
})
